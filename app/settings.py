"""Settings, from the environment: TILEWISE_HOST, TILEWISE_PORT, …"""

from pathlib import Path
from typing import Literal

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

LogLevel = Literal["critical", "error", "warning", "info", "debug"]


class Settings(BaseSettings):
    """What a host may set. A flag of `python -m app` wins over the environment.

    >>> Settings(port=9000).port
    9000
    """

    model_config = SettingsConfigDict(env_prefix="TILEWISE_", frozen=True)

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    root_path: str = Field(default="", description="The path the site is served under, such as /tilewise")
    log_level: LogLevel = "info"
    cache_bytes: int = Field(default=64_000_000, ge=0, description="Ready answers kept in memory, in bytes")
    max_body_bytes: int = Field(default=1_000_000, ge=1, description="The longest request body that is read")
    lessons_dir: Path | None = Field(default=None, description="A folder of lessons of the host's own, beside the site's")
    frame_ancestors: str = Field(default="*", description="Who may frame /embed: a CSP source list")

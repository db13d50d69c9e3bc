"""Settings, from the environment: TILEWISE_HOST, TILEWISE_PORT, …"""

import re
from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

_NAME = re.compile(r"(\*\.)?[\w-]+(\.[\w-]+)*|\[[0-9A-Fa-f:.]+\]")
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
    workers: int = Field(default=1, ge=1, le=64, description="Processes that serve; one for each core is enough")
    open: bool = Field(default=False, description="Whether the browser is opened once the site answers")
    trusted_proxies: str = Field(default="127.0.0.1", description="Whose X-Forwarded headers are believed: addresses with commas, or *")
    allowed_hosts: str = Field(
        default="*", description="Names by which the site may be asked for: with commas, *.example.org for all below; * for any"
    )
    stop_seconds: int = Field(default=5, ge=0, description="How long answers under way may take once the site is told to stop")

    log_level: LogLevel = "info"
    log_format: Literal["text", "json"] = "text"
    access_log: bool = Field(default=True, description="Whether there is a line for each request")
    metrics: bool = Field(default=False, description="Whether /metrics is there for Prometheus: needs the extra tilewise[metrics]")

    cache_bytes: int = Field(default=64_000_000, ge=0, description="Ready answers kept in memory, in bytes")
    max_body_bytes: int = Field(default=1_000_000, ge=1, description="The longest request body that is read")
    max_url_bytes: int = Field(default=32_768, ge=256, le=60_000, description="The longest address that is read, its query included")
    max_work: int = Field(default=6_000_000, ge=10_000, description="Numbers that one request may touch; about as many microseconds")

    lessons_dir: Path | None = Field(default=None, description="A folder of lessons of the host's own, beside the site's")
    frame_ancestors: str = Field(default="*", description="Who may frame /embed: a CSP source list")

    @property
    def hosts(self) -> tuple[str, ...]:
        """The allowed names one by one; none where any will do.

        >>> Settings(allowed_hosts="class.example.org, *.example.net").hosts, Settings().hosts
        (('class.example.org', '*.example.net'), ())
        """
        return () if self.allowed_hosts == "*" else tuple(name.strip() for name in self.allowed_hosts.split(","))

    @field_validator("allowed_hosts")
    @classmethod
    def _named(cls, given: str) -> str:
        for name in given.split(","):
            if given != "*" and not _NAME.fullmatch(name.strip()):
                raise ValueError(
                    f"{name.strip()!r} is not a host name: write names alone, without scheme, port or path, with commas between them"
                )
        return given

    @field_validator("root_path")
    @classmethod
    def _rooted(cls, given: str) -> str:
        """
        >>> Settings(root_path="tilewise/").root_path, Settings(root_path="/").root_path
        ('/tilewise', '')
        """
        inner = given.strip("/")
        return f"/{inner}" if inner else ""

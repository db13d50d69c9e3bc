"""`python -m app [--host H] [--port P]` serves the site."""

import argparse
import sys

import uvicorn
from pydantic import ValidationError

from app.main import create_app
from app.settings import Settings


def settings_from(arguments: list[str]) -> Settings:
    """Flags win over the environment."""
    parser = argparse.ArgumentParser(prog="python -m app", description="Serve Tilewise.")
    parser.add_argument("--host", help="address to listen on (TILEWISE_HOST; default 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port to listen on (TILEWISE_PORT; default 8000)")
    parser.add_argument("--root-path", help="the path a proxy serves the site under (TILEWISE_ROOT_PATH)")
    parser.add_argument("--log-level", help="critical, error, warning, info or debug (TILEWISE_LOG_LEVEL)")
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        for problem in error.errors():
            name = str(problem["loc"][0])
            print(f"{name.replace('_', '-')}: {problem['input']!r} will not do: {problem['msg']}.", file=sys.stderr)
        raise SystemExit(2) from None


def main() -> None:
    settings = settings_from(sys.argv[1:])
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        root_path=settings.root_path,
        log_level=settings.log_level,
        timeout_graceful_shutdown=1,  # Ctrl-C stops it at once, an idle keep-alive connection or not
    )


if __name__ == "__main__":
    main()

"""`python -m app [--host H] [--port P]` serves the site; `… figure ADDRESS FILE` draws one state; `… check [DIR]` checks lessons."""

import argparse
import sys
from pathlib import Path
from urllib.parse import parse_qsl

import uvicorn
from pydantic import ValidationError

from app.figures import DRAWN
from app.figures.kinds import MEDIA_TYPES, make
from app.lessons.catalog import LESSONS, Catalog
from app.lessons.checks import check
from app.main import create_app
from app.settings import Settings
from app.snapshots import NoSuchStep
from app.specs import SpecError
from app.web.failures import NotFound
from app.web.figures import job_of


def settings_from(arguments: list[str]) -> Settings:
    """Flags win over the environment."""
    parser = argparse.ArgumentParser(
        prog="python -m app",
        description="Serve Tilewise.",
        epilog="python -m app figure 'online-softmax?scores=1,3,2&step=2' out.png draws one state; the file's ending says as what.",
    )
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


def serve(arguments: list[str]) -> None:
    settings = settings_from(arguments)
    uvicorn.run(
        create_app(settings),
        host=settings.host,
        port=settings.port,
        root_path=settings.root_path,
        log_level=settings.log_level,
        timeout_graceful_shutdown=1,  # Ctrl-C stops it at once, an idle keep-alive connection or not
    )


def figure(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m app figure", description="Draw one state, or the run it belongs to, as a file.")
    parser.add_argument(
        "address", help="a state as in its link: online-softmax?scores=1,3,2&step=2, with theme=dark or size=card where wanted"
    )
    parser.add_argument("file", type=Path, help=f"where to write it; its ending says which kind: {', '.join(MEDIA_TYPES)}")
    parser.add_argument("--site", default="", help="for a QR code: the address of the site that it leads to, such as https://host/path")
    given = parser.parse_args(arguments)
    name, _, query = given.address.partition("?")
    if name not in DRAWN:
        parser.error(f"there is no figure of {name!r}: use one of {', '.join(sorted(DRAWN))}")
    ending = next((one for one in sorted(MEDIA_TYPES, key=len, reverse=True) if given.file.name.endswith(f".{one}")), None)
    if ending is None:
        parser.error(f"{given.file.name} does not say which kind: end it with one of {', '.join(f'.{one}' for one in MEDIA_TYPES)}")
    if ending == "qr.svg" and not given.site:
        parser.error("a QR code leads to a site: say which with --site https://host/path")
    try:
        made = make(ending, job_of(name, ending, dict(parse_qsl(query, keep_blank_values=True)), given.site.rstrip("/")))
    except (SpecError, NoSuchStep, NotFound) as error:
        parser.error(str(error))
    given.file.write_bytes(made)


def lessons(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m app check", description="Check lessons: links, formulas, numbers, widgets, questions.")
    parser.add_argument("folder", nargs="?", type=Path, help="a folder of lessons, or one lesson; the site's own where it is left out")
    folder: Path | None = parser.parse_args(arguments).folder
    catalog, only = Catalog(), None
    if folder is not None:
        folder = folder.resolve()
        if (folder / "lesson.md").is_file():
            only, folder = folder.name, folder.parent
        if not folder.is_dir():
            parser.error(f"{folder} is no folder")
        if folder != LESSONS.resolve():
            catalog = Catalog(folder)
    checked = [lesson for lesson in catalog.checkable if only in (None, lesson.slug)]
    if not checked:
        parser.error("there is no lesson there: a lesson is a folder with a lesson.md in it, its name small letters, digits and hyphens")
    wrong = check(catalog, checked)
    for problem in wrong:
        print(problem)
    if wrong:
        raise SystemExit(1)
    print(f"lessons: nothing wrong in {', '.join(lesson.slug for lesson in checked)}")


def main() -> None:
    if sys.argv[1:2] == ["figure"]:
        figure(sys.argv[2:])
    elif sys.argv[1:2] == ["check"]:
        lessons(sys.argv[2:])
    else:
        serve(sys.argv[1:])


if __name__ == "__main__":
    main()

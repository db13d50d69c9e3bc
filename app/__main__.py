"""`python -m app` serves the site; its subcommands `figure`, `check` and `export` write files and look at lessons.

What a command needs is imported as it runs: each process that serves or draws imports this module anew, and a slow machine waits for that.
"""

import argparse
import os
import socket
import sys
import threading
import time
import urllib.request
import webbrowser
from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

if TYPE_CHECKING:
    from app.settings import Settings

FLAGS = {
    "host": "address to listen on; 0.0.0.0 for everyone on the network (default 127.0.0.1)",
    "port": "port to listen on (default 8000)",
    "root-path": "the path a proxy serves the site under, such as /tilewise",
    "workers": "processes that serve (default 1)",
    "log-level": "critical, error, warning, info or debug",
    "log-format": "text for people, json for programs",
    "lessons-dir": "a folder of lessons of your own",
}
STARTING = 60  # seconds that a worker may take to answer its parent: importing the site takes ten on a small or busy machine


class Refused(Exception):
    """What was asked for cannot be done; the message says why and what can."""


def command_line() -> argparse.ArgumentParser:
    """Serving is what the command does by itself; each subcommand has its own arguments, and the function that does it as `run`.

    >>> command_line().parse_args(["export", "course", "--base", "https://me.example/"]).base
    'https://me.example/'
    """
    parser = argparse.ArgumentParser(
        prog="python -m app",
        description="Serve Tilewise. Each setting is also a variable: TILEWISE_PORT for --port; /guide/hosting lists those without a flag.",
    )
    parser.set_defaults(run=serve, fail=parser.error)
    for name, about in FLAGS.items():
        parser.add_argument(f"--{name}", help=about)
    parser.add_argument("--open", action="store_true", default=None, help="open the browser once the site answers")
    commands = parser.add_subparsers(title="instead of serving", metavar="{figure,check,export}")

    def command(name: str, run: Callable[[Namespace], None], about: str) -> argparse.ArgumentParser:
        found = commands.add_parser(name, help=about[0].lower() + about[1:].rstrip("."), description=about)
        found.set_defaults(run=run, fail=found.error)
        return found

    one = command("figure", figure, "Draw one state, or the run it belongs to, as a file.")
    one.add_argument(
        "address", help="a state as in its link: online-softmax?scores=1,3,2&step=2, with theme=dark or size=card where wanted"
    )
    one.add_argument("file", type=Path, help="where to write it; its ending says which kind, such as .svg, .png or .gif")
    one.add_argument(
        "--moving", metavar="FIRST", type=int, help="for a GIF: the steps after this one up to the address's, each moving as on its page"
    )
    one.add_argument("--site", default="", help="for a QR code: the address of the site that it leads to, such as https://host/path")
    one = command("check", lessons, "Check lessons: links, formulas, numbers, widgets, questions.")
    one.add_argument("folder", nargs="?", type=Path, help="a folder of lessons, or one lesson; the site's own where it is left out")
    one = command("export", copy, "Write the course as plain files, for a host without a server.")
    one.add_argument("folder", type=Path, help="a new or empty folder")
    one.add_argument(
        "--base", default="", help="where it will be, such as https://me.github.io/course/, for link previews; links work without it"
    )
    return parser


def settings_from(given: Namespace) -> "Settings":
    """Flags win over the environment."""
    from pydantic import ValidationError

    from app.settings import Settings

    named = {name: value for name, value in vars(given).items() if name in Settings.model_fields and value is not None}
    try:
        return Settings(**named)
    except ValidationError as error:
        for problem in error.errors():
            name = str(problem["loc"][0])
            print(f"{name.replace('_', '-')}: {problem['input']!r} will not do: {problem['msg']}.", file=sys.stderr)
        raise SystemExit(2) from None


def serve(given: Namespace) -> None:
    settings = settings_from(given)
    for wrong in wrongly_set(settings):
        raise Refused(wrong)
    for name, value in settings.model_dump(exclude_defaults=True).items():
        os.environ[f"TILEWISE_{name.upper()}"] = str(value)  # each worker reads its settings anew
    many_open_files()
    if settings.log_format == "text":
        greet(settings)
    if settings.open:
        threading.Thread(target=open_browser, args=(settings,), daemon=True).start()

    import uvicorn

    from app.http.access_log import logging_for

    uvicorn.run(
        "app.main:served",
        factory=True,
        host=settings.host,
        port=settings.port,
        root_path=settings.root_path,
        workers=settings.workers,
        log_config=logging_for(settings.log_format, settings.log_level, settings.access_log),
        access_log=False,
        server_header=False,
        ws="none",
        forwarded_allow_ips=settings.trusted_proxies,
        timeout_keep_alive=75,  # longer than a proxy keeps a connection that it may still use
        timeout_graceful_shutdown=settings.stop_seconds,
        timeout_worker_healthcheck=STARTING,
    )


def wrongly_set(settings: "Settings") -> Iterator[str]:
    """What is set and cannot work here, in words."""
    if settings.metrics and find_spec("prometheus_client") is None:
        yield "TILEWISE_METRICS is set, and prometheus-client is not installed: pip install 'tilewise[metrics]'."
    counted = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if settings.metrics and counted is not None and not (os.path.isdir(counted) and os.access(counted, os.W_OK)):
        yield f"PROMETHEUS_MULTIPROC_DIR is {counted!r}, where nothing can be written: name an empty folder, or leave it out."
    own = settings.lessons_dir
    if own is not None and not (own.is_dir() and os.access(own, os.R_OK | os.X_OK)):
        yield f"lessons-dir: {str(own)!r} is no folder that can be read here: make it, or let this user read it."


def greet(settings: "Settings") -> None:
    """Say where others on the network find the site, in letters and as a QR code for their phones."""
    shown = lan_address() if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104
    if shown is None:
        print(
            f"On this network: http://ADDRESS:{settings.port}/, where `ip addr` (on Windows `ipconfig`) tells this machine's address.\n",
            flush=True,
        )
        return
    if shown.startswith("127.") or shown in ("::1", "localhost"):
        return
    # a proxy's path leads to the proxy, and not here
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{settings.port}/"
    import segno

    print(f"On this network: {address}\n")
    segno.make(address, error="m").terminal(compact=True)
    print(flush=True)


def lan_address() -> str | None:
    """The address by which this machine is known on its network; None where it is on none. Nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))  # an address for documentation: only the way to it is looked up
        except OSError:
            return None
        return str(probe.getsockname()[0])


def open_browser(settings: "Settings") -> None:
    host = "127.0.0.1" if settings.host in ("0.0.0.0", "::") else settings.host  # noqa: S104
    address = f"http://{f'[{host}]' if ':' in host else host}:{settings.port}/"
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"{address}healthz", timeout=1):  # noqa: S310
                webbrowser.open(address)
                return
        except OSError:
            time.sleep(0.1)


def many_open_files() -> None:
    """A class keeps a few connections each, and the usual limit is a thousand files."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 65_536 if hard == resource.RLIM_INFINITY else min(65_536, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def figure(given: Namespace) -> None:
    from app.figures.file import DARK, LIGHT
    from app.figures.kinds import MEDIA_TYPES, make
    from app.figures.moving import film
    from app.routes.figures import job_of
    from app.runs import Run
    from app.specs import Refusal
    from app.stories import PICTURES

    name, _, query = given.address.partition("?")
    if name not in PICTURES:
        raise Refused(f"there is no figure of {name!r}: use one of {', '.join(sorted(PICTURES))}")
    ending = next((one for one in sorted(MEDIA_TYPES, key=len, reverse=True) if given.file.name.endswith(f".{one}")), None)
    if ending is None:
        raise Refused(f"{given.file.name} does not say which kind: end it with one of {', '.join(f'.{one}' for one in MEDIA_TYPES)}")
    if ending == "qr.svg" and not given.site:
        raise Refused("a QR code leads to a site: say which with --site https://host/path")
    if given.moving is not None and ending != "gif":
        raise Refused("only a GIF moves: let the file's name end with .gif")
    try:
        job = job_of(name, ending, dict(parse_qsl(query, keep_blank_values=True)), given.site.rstrip("/"))
        if given.moving is None:
            made = make(ending, job)
        elif 0 <= given.moving < job.step and name == job.machine:
            run = Run(job.made, job.spec)
            made = film([run.shot(step) for step in range(given.moving, job.step + 1)], DARK if job.dark else LIGHT)
        else:
            raise Refused(f"--moving {given.moving}: give a step before the address's own, which is {job.step}, and a widget's own picture")
    except Refusal as error:
        raise Refused(str(error)) from None
    given.file.write_bytes(made)


def lessons(given: Namespace) -> None:
    from app.lessons.check import check
    from app.lessons.course import LESSONS, Catalog

    folder: Path | None = given.folder
    catalog, only = Catalog(), None
    if folder is not None:
        folder = folder.resolve()
        if (folder / "lesson.md").is_file():
            only, folder = folder.name, folder.parent
        if not folder.is_dir():
            raise Refused(f"{folder} is no folder")
        if folder != LESSONS.resolve():
            catalog = Catalog(folder)
    checked = [lesson for lesson in catalog.checkable if only in (None, lesson.slug)]
    if not checked:
        raise Refused("there is no lesson there: a lesson is a folder with a lesson.md in it, its name small letters, digits and hyphens")
    wrong = check(catalog, checked)
    for problem in wrong:
        print(problem)
    if wrong:
        raise SystemExit(1)
    print(f"lessons: nothing wrong in {', '.join(lesson.slug for lesson in checked)}")


def copy(given: Namespace) -> None:
    from app.export import export
    from app.main import create_app
    from app.settings import Settings

    def say(words: str) -> None:
        print(f"export: {words}", file=sys.stderr, flush=True)

    say("this takes about half a minute")
    try:
        files, size = export(create_app(Settings()), given.folder, given.base, say)
    except (FileExistsError, NotADirectoryError):
        raise Refused(f"{given.folder} is not empty: name a new folder") from None
    print(
        f"{files:,} files, {size / 1e6:.1f} MB, in {given.folder}: "
        f"put them on a web space, or look at them here with python -m http.server --directory {given.folder}"
    )


def main(arguments: list[str] | None = None) -> None:
    """Do what the command line says. What is refused is told on standard error, and the status is 2."""
    given = command_line().parse_args(arguments)
    try:
        given.run(given)
    except Refused as why:
        given.fail(str(why))


if __name__ == "__main__":
    main()

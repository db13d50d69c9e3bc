"""Links in a lesson's text: lesson:, run:, widget:, guide:, code:, #anchor and the outside."""

import re
from urllib.parse import quote, urlsplit

from app.lessons.markup.code import files
from app.lessons.markup.context import BASE, Context
from app.lessons.problems import Invalid
from app.stories import PAGES

WAYS = "lesson:slug#anchor, run:name@step, widget:name, guide:name, code:file, #anchor or https://…"


def resolved(context: Context, href: str, line: int) -> str:
    """Where a link leads. Invalid where it leads nowhere; other pages are looked at by `checks`, which knows them all."""
    context.links.append((line, href))
    scheme, _, rest = href.partition(":")
    if href.startswith("#") and len(href) > 1:
        return href
    if scheme in ("http", "https") and urlsplit(href).netloc:
        return href
    if scheme == "lesson":
        slug, _, anchor = rest.partition("#")
        return lesson(slug, context.track, anchor)
    if scheme == "guide":
        return f"{BASE}/guide/{quote(rest, safe='#')}"
    if scheme == "widget":
        name, _, query = rest.partition("?")
        if name not in PAGES:
            raise Invalid(f"there is no widget {name!r}: use one of {', '.join(sorted(PAGES))}")
        return f"{BASE}/widgets/{name}{'?' + query if query else ''}"
    if scheme == "code":
        known = files(context.folder)
        if rest not in known:
            raise Invalid(f"there is no file code/{rest}: {'use ' + ', '.join(known) if known else 'put it into code/'}")
        return f"{BASE}/lessons/{context.slug}/code/{rest}"
    if scheme == "run":
        return f"{BASE}/{state(context, rest)}"
    raise Invalid(f"the link {href[:60]!r} leads nowhere: use {WAYS}")


def lesson(slug: str, track: str, anchor: str = "") -> str:
    """A lesson's address in a track."""
    return f"{BASE}/lessons/{quote(slug)}{'?track=deep' if track == 'deep' else ''}{'#' + anchor if anchor else ''}"


def state(context: Context, target: str) -> str:
    """The page of a run's step, as run:five@3 names it."""
    found = re.fullmatch(r"([\w-]+)(?:@(-?\d+))?", target)
    if found is None:
        raise Invalid(f"run:{target[:40]} is not a run and a step: write run:five@3")
    shot = context.scope.run(found[1]).at(int(found[2] or 0))
    page = shot.wire_form["links"].get("page")
    if page is None:
        raise Invalid(f"run {found[1]!r} has no page of its own: {', '.join(sorted(PAGES))} have one, for short runs")
    return str(page)

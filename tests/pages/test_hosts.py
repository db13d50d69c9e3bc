"""Embeds in other people's pages, served from another origin and port, each walked to the end."""

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from tests.pages.driver import DEFAULT

FIVE = "scores=1,3,2,5,4"
LISTEN = "window.heard = []; addEventListener('message', (event) => heard.push(event.data));"
# What WordPress makes of a discovered oEmbed answer, and the part of its script that sets a height.
WORDPRESS = """
<blockquote class="wp-embedded-content" data-secret="aB3dE">A widget</blockquote>
<iframe class="wp-embedded-content" sandbox="allow-scripts" security="restricted" width="600" height="338" title="A widget"
  src="{site}/embed/online-softmax?{spec}#?secret=aB3dE" data-secret="aB3dE"></iframe>
<script>
addEventListener("message", (event) => {{
  const frame = document.querySelector("iframe");
  if (event.source !== frame.contentWindow || event.data?.secret !== frame.dataset.secret) return;
  if (event.data.message === "height") frame.height = Math.min(1000, Math.max(200, event.data.value));
}});
</script>
"""

Host = Callable[..., Page]


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[tuple[str, dict[str, str]]]:
    """Another web site: its address, and its pages by path."""
    pages: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = pages.get(self.path)
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write((found or "").encode())

        def log_message(self, *given: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}", pages
    server.shutdown()


@pytest.fixture
def host(browser: Browser, site: str, elsewhere: tuple[str, dict[str, str]], request: pytest.FixtureRequest) -> Iterator[Host]:
    """Opens a host page with the given body; at the end no script of ours may have failed and no policy been broken."""
    address, pages = elsewhere
    wrong: list[str] = []
    opened = []

    def open_page(body: str, head: str = "", width: int = 1000, height: int = 800, **context: object) -> Page:
        found = browser.new_context(viewport={"width": width, "height": height}, **context)  # type: ignore[arg-type]
        opened.append(found)
        found.set_default_timeout(15_000)
        found.on("weberror", lambda error: wrong.append(f"script: {error.error}"))
        found.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page = found.new_page()
        path = f"/{request.node.name}"
        pages[path] = (
            f"<!doctype html><html lang=en><title>An article</title><script>{LISTEN}</script>{head}<body>{body.replace('{site}', site)}"
        )
        page.goto(f"{address}{path}")
        return page

    yield open_page
    for found in opened:
        found.close()
    assert not [one for one in wrong if not re.search(r"status of (404|422)|ERR_CONNECTION_REFUSED", one)]


def frame_of(page: Page, selector: str = "iframe") -> FrameLocator:
    found = page.frame_locator(selector)
    expect(found.locator("[data-widget]")).to_have_attribute("data-ready", "yes", timeout=15_000)
    return found


def walk(frame: FrameLocator, steps: int, start: int = 0) -> None:
    """To the end by its button."""
    for step in range(start + 1, steps + 1):
        frame.locator('[data-action="next"]').click()
        expect(frame.locator('[data-part="position"]')).to_have_text(f"{step} of {steps}")
    expect(frame.locator('[data-action="next"]')).to_have_attribute("aria-disabled", "true")


def told(page: Page, kind: str) -> list[dict[str, object]]:
    found: list[dict[str, object]] = page.evaluate("(kind) => heard.filter((one) => one?.type === kind)", f"tilewise:{kind}")
    return found


def quiet(page: Page, ms: int = 400) -> int:
    """How many heights have been told once no more come."""
    page.wait_for_function(
        """(ms) => { const now = heard.filter((one) => one?.type === "tilewise:height").length;
             if (window.count !== now) { window.count = now; window.since = performance.now(); return false; }
             return performance.now() - window.since > ms; }""",
        arg=ms,
    )
    return len(told(page, "height"))


class TestBare:
    def test_it_walks_and_says_its_height(self, host: Host):
        page = host(f'<p>Before</p><iframe src="{{site}}/embed/online-softmax?{DEFAULT}" width="800" height="620" title="w"></iframe>')
        frame = frame_of(page)
        quiet(page)
        height = told(page, "height")[-1]["height"]
        assert abs(float(str(height)) - frame.locator("body").evaluate("() => document.documentElement.scrollHeight")) <= 8
        assert any(isinstance(one, str) and "lti.frameResize" in one for one in page.evaluate("() => heard"))
        walk(frame, 8)
        assert [one["state"]["step"] for one in told(page, "step")] == list(range(1, 9))  # type: ignore[index]

    def test_it_takes_no_focus_and_scrolls_nothing(self, host: Host):
        body = '<input id=mine autofocus><div style="height:1500px"></div><iframe src="{site}/embed/tiled-attention?step=1" width="700" height="700" title="w"></iframe>'
        page = host(body)
        frame_of(page)
        page.wait_for_timeout(300)
        assert page.evaluate("() => [document.activeElement.id, scrollY]") == ["mine", 0]

    def test_out_of_sight_it_starts_nothing(self, host: Host):
        body = f'<div style="height:3000px"></div><iframe src="{{site}}/embed/online-softmax?{DEFAULT}&autoplay=1" width="800" height="620" title="w"></iframe>'
        page = host(body)
        frame = frame_of(page)
        page.wait_for_timeout(1800)
        assert told(page, "step") == []
        expect(frame.locator("figure[data-plotted]")).to_have_count(0)
        page.evaluate("() => document.querySelector('iframe').scrollIntoView()")
        page.wait_for_function("() => heard.some((one) => one?.type === 'tilewise:step')")
        expect(frame.locator('[data-action="play"]')).to_have_text("Pause")

    def test_less_motion_means_no_playing_by_itself(self, host: Host):
        page = host(
            f'<iframe src="{{site}}/embed/online-softmax?{DEFAULT}&autoplay=1" width="800" height="620" title="w"></iframe>',
            reduced_motion="reduce",
        )
        frame = frame_of(page)
        page.wait_for_timeout(1700)
        expect(frame.locator('[data-part="position"]')).to_have_text("0 of 8")

    def test_a_host_that_never_listens_loses_nothing(self, host: Host):
        """At its fallback height the frame scrolls by itself, and what matters comes first."""
        page = host(f'<iframe src="{{site}}/embed/online-softmax?{DEFAULT}" width="600" height="400" title="w"></iframe>')
        frame = frame_of(page)
        expect(frame.locator('[data-action="next"]')).to_be_in_viewport()
        expect(frame.locator('[data-part="caption"]')).to_be_in_viewport()
        assert frame.locator("html").evaluate("(one) => getComputedStyle(one).overflowY") != "hidden"
        walk(frame, 8)

    def test_a_dark_page(self, host: Host):
        page = host(
            f'<iframe src="{{site}}/embed/online-softmax?{DEFAULT}&theme=dark" width="800" height="620" title="w"></iframe>',
            head="<style>body { background: #111; color: #eee; }</style>",
        )
        frame = frame_of(page)
        ink = frame.locator("body").evaluate(
            "(one) => [getComputedStyle(one).color, getComputedStyle(document.documentElement).backgroundColor]"
        )
        assert ink == ["rgb(237, 240, 245)", "rgb(21, 26, 34)"]
        walk(frame, 8)

    def test_a_column_of_300_pixels(self, host: Host):
        page = host(f'<iframe src="{{site}}/embed/online-softmax?{FIVE}" width="300" height="640" title="w"></iframe>', width=360)
        frame = frame_of(page)
        assert frame.locator("html").evaluate("(one) => one.scrollWidth") <= 300
        walk(frame, 5)

    def test_a_host_that_changes_its_width_fifty_times(self, host: Host):
        page = host(
            f'<iframe src="{{site}}/embed/online-softmax?{DEFAULT}" width="800" height="620" title="w"></iframe>'
            '<script>addEventListener("message", ({data}) => { if (data?.type === "tilewise:height") document.querySelector("iframe").height = data.height; });</script>'
        )
        frame = frame_of(page)
        before = quiet(page)
        page.evaluate(
            """async () => { const frame = document.querySelector("iframe");
                 for (let turn = 0; turn < 50; turn++) { frame.width = turn % 2 ? 800 : 420; await new Promise(requestAnimationFrame); } }"""
        )
        after = quiet(page)
        assert after - before <= 60, "a message for each change and no more"
        assert quiet(page, 700) == after
        walk(frame, 8)

    def test_a_host_that_answers_each_height_with_another_width(self, host: Host):
        """The loop that made other embeds flicker: it comes to rest."""
        page = host(
            f'<iframe src="{{site}}/embed/online-softmax?{DEFAULT}" width="800" height="620" title="w"></iframe>'
            '<script>let wide = true; addEventListener("message", ({data}) => { if (data?.type === "tilewise:height") { wide = !wide; '
            'document.querySelector("iframe").width = wide ? 800 : 420; } });</script>'
        )
        frame = frame_of(page)
        assert quiet(page, 800) < 20
        walk(frame, 8)


def test_as_wordpress_frames_a_discovered_answer(host: Host, site: str):
    page = host(WORDPRESS.format(site=site, spec=FIVE))
    frame = frame_of(page)
    page.wait_for_function("() => document.querySelector('iframe').height !== '338'")
    walk(frame, 5)


class TestOptions:
    @pytest.mark.parametrize(
        ("query", "shown", "gone"),
        [
            ("controls=step", ["next", "back", "reset"], ["play", "share"]),
            ("controls=none", [], ["next", "play"]),
            ("hide=play,share,format", ["next"], ["play", "share"]),
        ],
    )
    def test_controls(self, host: Host, query: str, shown: list[str], gone: list[str]):
        page = host(f'<iframe src="{{site}}/embed/online-softmax?{DEFAULT}&{query}" width="800" height="620" title="w"></iframe>')
        frame = frame_of(page)
        for name in shown:
            expect(frame.locator(f'[data-action="{name}"]')).to_be_visible()
        for name in gone:
            expect(frame.locator(f'[data-action="{name}"]')).to_be_hidden()

    def test_without_a_caption_it_is_still_read_out(self, host: Host):
        page = host(f'<iframe src="{{site}}/embed/online-softmax?{DEFAULT}&caption=0" width="800" height="620" title="w"></iframe>')
        frame = frame_of(page)
        assert frame.locator(".caption").bounding_box()["width"] <= 1  # type: ignore[index]
        frame.locator('[data-action="next"]').click()
        expect(frame.locator('[data-part="live"]')).not_to_be_empty()

    def test_a_part_of_the_run(self, host: Host):
        page = host(f'<iframe src="{{site}}/embed/online-softmax?{DEFAULT}&from=2&to=4" width="800" height="620" title="w"></iframe>')
        frame = frame_of(page)
        position = frame.locator('[data-part="position"]')
        expect(position).to_have_text("2 of 8")
        for name, text in (("back", "2 of 8"), ("next", "3 of 8"), ("next", "4 of 8")):
            frame.locator(f'[data-action="{name}"]').click(force=True)
            expect(position).to_have_text(text)
        expect(frame.locator('[data-action="next"]')).to_have_attribute("aria-disabled", "true")
        frame.locator('[data-action="back"]').focus()
        page.keyboard.press("Home")
        expect(position).to_have_text("2 of 8")
        page.keyboard.press("End")
        expect(position).to_have_text("4 of 8")
        frame.locator('[data-action="reset"]').click()
        expect(position).to_have_text("2 of 8")

    def test_an_unknown_option_is_a_page_in_words(self, host: Host):
        page = host('<iframe src="{site}/embed/online-softmax?theme=sepia" width="800" height="300" title="w"></iframe>')
        expect(page.frame_locator("iframe").locator('[data-part="error"]')).to_contain_text("auto, light, dark")


class TestTheElement:
    TAG = '<tilewise-widget machine="online-softmax" scores="1,3,2,5,4" step="3"><img alt="A picture" src="{site}/figures/online-softmax.svg?scores=1,3,2,5,4&step=3"></tilewise-widget>'
    SCRIPT = '<script src="{site}/static/embed.js" async></script>'

    def test_it_walks_grows_and_tells(self, host: Host):
        page = host(f"<p>Before</p>{self.TAG}{self.SCRIPT}")
        frame = frame_of(page, "tilewise-widget iframe")
        expect(page.get_by_alt_text("A picture")).to_be_hidden()
        quiet(page)
        tall = page.locator("tilewise-widget iframe").evaluate("(one) => one.getBoundingClientRect().height")
        assert abs(tall - frame.locator("html").evaluate("(one) => one.scrollHeight")) <= 8
        page.evaluate(
            "() => { window.steps = []; document.querySelector('tilewise-widget').addEventListener('step', (event) => steps.push(event.detail.step)); }"
        )
        walk(frame, 5, 3)
        page.wait_for_function("() => steps.length === 2")
        assert page.evaluate("() => steps") == [4, 5]

    def test_a_slide_deck_drives_it(self, host: Host):
        page = host(f"{self.TAG}{self.SCRIPT}")
        frame = frame_of(page, "tilewise-widget iframe")
        state = page.evaluate("() => document.querySelector('tilewise-widget').getState()")
        assert (state["machine"], state["step"], state["steps"]) == ("online-softmax", 3, 5)
        assert "/widgets/online-softmax?scores=1,3,2,5,4" in state["url"]
        assert page.evaluate("() => document.querySelector('tilewise-widget').setState({ step: 1 })")["step"] == 1
        expect(frame.locator('[data-part="position"]')).to_have_text("1 of 5")
        page.evaluate("() => document.querySelector('tilewise-widget').step(1)")
        expect(frame.locator('[data-part="position"]')).to_have_text("2 of 5")
        state = page.evaluate("() => document.querySelector('tilewise-widget').setState({ query: 'scores=2,1', step: 2 })")
        assert (state["spec"]["scores"], state["step"], state["steps"]) == ([2, 1], 2, 2)
        page.evaluate("() => { document.querySelector('tilewise-widget').setAttribute('step', '0'); }")
        expect(frame.locator('[data-part="position"]')).to_have_text("0 of 2")

    def test_what_is_wrong_is_said_and_the_state_stays(self, host: Host):
        page = host(f"{self.TAG}{self.SCRIPT}")
        frame = frame_of(page, "tilewise-widget iframe")
        said = page.evaluate(
            "() => document.querySelector('tilewise-widget').setState({ query: 'scores=1,x' }).then(() => '', (error) => error.message)"
        )
        assert "'x'" in said
        expect(frame.locator('[data-part="position"]')).to_have_text("3 of 5")

    def test_three_on_a_page_do_not_hear_each_other(self, host: Host):
        page = host(
            "".join(
                f'<tilewise-widget machine="{name}" step="1"></tilewise-widget>'
                for name in ("online-softmax", "tiled-attention", "division-order")
            )
            + self.SCRIPT
        )
        page.evaluate(
            "() => { window.steps = []; for (const [i, one] of document.querySelectorAll('tilewise-widget').entries()) one.addEventListener('step', () => steps.push(i)); }"
        )
        for i, steps in ((2, 4), (1, 3), (0, 8)):
            page.locator("tilewise-widget").nth(i).scroll_into_view_if_needed()
            walk(frame_of(page, f"tilewise-widget:nth-of-type({i + 1}) iframe"), steps, 1)
        page.wait_for_function("() => steps.length === 12")
        assert page.evaluate("() => steps") == [2, 2, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0]

    def test_keys_of_the_deck_go_on_working(self, host: Host):
        """reveal.js and its like listen on the document; with keys=0 the frame hands on what it does not use."""
        page = host(
            f'<tilewise-widget machine="online-softmax" keys="0" step="1"></tilewise-widget>{self.SCRIPT}',
            head="<script>window.keys = []; document.addEventListener('keydown', (event) => keys.push([event.key, event.keyCode]));</script>",
        )
        frame = frame_of(page, "tilewise-widget iframe")
        frame.locator('[data-part="caption"]').click()
        page.keyboard.press("ArrowRight")
        page.wait_for_function("() => keys.length === 1")
        assert page.evaluate("() => keys") == [["ArrowRight", 39]]
        expect(frame.locator('[data-part="position"]')).to_have_text("1 of 8")

    def test_where_the_site_is_gone_the_picture_stays(self, host: Host):
        page = host(
            '<tilewise-widget machine="online-softmax" base="http://localhost:1"><img alt="A picture" src="{site}/static/icon.svg"></tilewise-widget>'
            + self.SCRIPT
        )
        page.wait_for_timeout(500)
        expect(page.get_by_alt_text("A picture")).to_be_visible()


def test_the_script_is_small():
    import brotli

    from app.assets import STATIC

    assert len(brotli.compress((STATIC / "embed.js").read_bytes())) < 4000

"""Embeds in other people's pages, served from another origin and port, each walked to the end."""

import base64
import re
import threading
from collections.abc import Callable, Iterator
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from playwright.sync_api import Browser, FrameLocator, Page, expect

from app.assets import load
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
            if "isolated" in self.path:
                self.send_header("Cross-Origin-Opener-Policy", "same-origin")
                self.send_header("Cross-Origin-Embedder-Policy", "require-corp")
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

    def open_page(body: str, head: str = "", width: int = 1000, height: int = 800, csp: str = "", **context: object) -> Page:
        found = browser.new_context(viewport={"width": width, "height": height}, **context)  # type: ignore[arg-type]
        opened.append(found)
        found.set_default_timeout(15_000)
        found.on("weberror", lambda error: wrong.append(f"script: {error.error}"))
        found.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page = found.new_page()
        path = "/" + re.sub(r"\W+", "-", request.node.name)
        pages[path] = (
            f"<!doctype html><html lang=en><title>An article</title><script>{LISTEN}</script>{head}<body>{body.replace('{site}', site)}"
        )
        if csp:
            pages[path] = pages[path].replace("<script>", f'<meta http-equiv="Content-Security-Policy" content="{csp}"><script>', 1)
        page.goto(f"{address}{path}")
        return page

    open_page.site = site  # type: ignore[attr-defined]
    yield open_page
    for found in opened:
        found.close()
    assert not [one for one in wrong if not re.search(r"status of (404|422|500|503)|ERR_CONNECTION_REFUSED", one)]


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


class Driven:
    """The element of a host page, whose functions a test calls."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def __call__(self, work: str, given: object = None) -> Any:
        return self.page.evaluate(
            f"(given) => customElements.whenDefined('tilewise-widget').then(() => ({work})(document.querySelector('tilewise-widget'), given))",
            given,
        )


class TestTheElement:
    TAG = '<tilewise-widget machine="online-softmax" scores="1,3,2,5,4" step="3"><img alt="A picture" src="{site}/figures/online-softmax.svg?scores=1,3,2,5,4&step=3"></tilewise-widget>'
    SCRIPT = '<script src="{site}/static/embed.js" async></script>'

    @pytest.fixture
    def driven(self, host: Host) -> Driven:
        page = host(f"{self.TAG}{self.SCRIPT}")
        frame_of(page, "tilewise-widget iframe")
        return Driven(page)

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

    def test_nothing_asked_in_vain_waits_for_ever(self, driven: Driven):
        asked: list[tuple[object, str]] = [
            ({"query": "scores=2,7,1", "step": 50}, "Step 50 is past the end: this run has steps 0 to 3."),
            ({"query": "scores=2,7,1", "step": "x"}, "'x' is not a whole number"),
            ({"step": 99}, "'99' is not one of the steps shown; give a whole number from 0 to 5."),
            ({"step": -3}, "'-3' is not one of the steps shown"),
            ({"step": 2.5}, "'2.5' is not one of the steps shown"),
            ({"step": "x"}, "'x' is not one of the steps shown"),
            ({"step": ""}, "'' is not one of the steps shown"),
            ({"step": None}, "is not understood here"),
            ({"query": 3}, "is not understood here"),
            ({"query": "scores=1", "step": [1]}, "is not understood here"),
            ({}, "{} is not understood here"),
            (None, "null is not understood here"),
        ]
        for state, words in asked:
            said = driven("(one, state) => one.setState(state).then(() => '', (error) => error.message)", state)
            assert words in str(said)
            assert driven("(one) => one.getState()")["step"] == 3

    def test_a_server_that_is_busy_is_told_of_in_its_words(self, driven: Driven):
        page = driven.page
        body = '<p data-part="error">Too much is being computed.</p>'
        page.route("**/embed/online-softmax?scores=9*", lambda route: route.fulfill(status=503, body=body, content_type="text/html"))
        said = driven("(one) => one.setState({ query: 'scores=9,8' }).then(() => '', (error) => error.message)")
        assert said == "Too much is being computed."
        page.route("**/embed/online-softmax?scores=8*", lambda route: route.fulfill(status=500, body="", content_type="text/plain"))
        assert (
            driven("(one) => one.setState({ query: 'scores=8,8' }).then(() => '', (error) => error.message)") == "The server answered 500"
        )

    def test_what_is_overtaken_is_told_so(self, driven: Driven):
        told = driven(
            "(one) => Promise.allSettled(['1,2', '3,4', '5,6', '7,8', '9,9', '2,1'].map((scores) => one.setState({ query: `scores=${scores}`, step: 1 })))"
        )
        assert [one["status"] for one in told][-1] == "fulfilled"
        assert all("reason" in one or one["value"]["step"] == 1 for one in told)
        assert driven("(one) => one.getState()")["spec"]["scores"] == [2, 1]

    def test_a_step_that_has_still_to_come_is_waited_for(self, host: Host):
        driven = Driven(
            host(
                f'<tilewise-widget machine="tiled-attention" seed="5" n_q="16" n_k="16" d="2" d_v="2" block_q="1" block_k="1"></tilewise-widget>{self.SCRIPT}'
            )
        )
        assert driven("(one) => one.setState({ step: 200 })")["step"] == 200

    def test_steps_that_are_left_out_are_refused(self, host: Host):
        driven = Driven(
            host(f'<tilewise-widget machine="online-softmax" scores="1,3,2,5,4" from="2" to="4"></tilewise-widget>{self.SCRIPT}')
        )
        for state in ({"step": 1}, {"query": "scores=1,3,2,5,4", "step": 5}):
            said = driven("(one, state) => one.setState(state).then(() => '', (error) => error.message)", state)
            assert "is not one of the steps shown; give a whole number from 2 to 4." in str(said)
        assert driven("(one) => one.step(-1)")["step"] == 2

    def test_a_hidden_slide_is_asked_before_it_is_there(self, host: Host):
        page = host(f"<section hidden>{self.TAG}</section>{self.SCRIPT}")
        driven = Driven(page)
        driven(
            "(one) => { window.told = []; one.setState({ step: 5 }).then(({ step }) => told.push(step)); one.getState().then(({ step }) => told.push(step)); }"
        )
        page.wait_for_timeout(500)
        assert page.evaluate("() => told") == []
        page.evaluate("() => { document.querySelector('section').hidden = false; }")
        page.wait_for_function("() => told.length === 2")
        assert page.evaluate("() => told") == [5, 5]

    def test_a_frame_that_goes_away_fails_what_waits(self, host: Host):
        page = host(f"<section hidden>{self.TAG}</section>{self.SCRIPT}")
        driven = Driven(page)
        assert driven(
            "(one) => { const told = one.setState({ step: 5 }).catch((error) => error.message); one.remove(); return Promise.all([told, one.getState().catch((error) => error.message)]); }"
        ) == ["The widget was taken out of its page.", "The widget is not in a page."]

    def test_a_frame_with_another_document_fails_what_waits(self, driven: Driven):
        page = driven.page
        page.route("**/embed/online-softmax?scores=9*", lambda route: None)  # never answered
        driven("(one) => { one.setState({ query: 'scores=9,8' }).catch((error) => { window.said = error.message; }); }")
        driven("(one) => { one.shadowRoot.querySelector('iframe').src = 'about:blank'; }")
        page.wait_for_function("() => window.said")
        assert "No widget answers" in page.evaluate("() => said")

    def test_a_wrong_attribute_is_said(self, host: Host):
        wrong = [
            ('machine="online-softmax" scores="oops"', "'oops' is not a number"),
            ('machine="nope"', "There is no widget 'nope'"),
            ('machine="online-softmax" theme="sepia"', "use one of auto, light, dark"),
            ('machine="online-softmax" scores="1,2" step="7"', "Step 7 is past the end: this run has steps 0 to 2."),
            ("", "There is nothing at '/embed/'"),
        ]
        page = host(
            "<script>window.said = []; window.warned = []; console.warn = (words) => warned.push(words); addEventListener('error', ({ target, message }) => said.push(message), true);</script>"
            + "".join(
                f'<tilewise-widget {one}><img alt="A picture" src="{{site}}/static/icon.svg" width="20"></tilewise-widget>'
                for one, _ in wrong
            )
            + self.SCRIPT
        )
        page.wait_for_function(f"() => said.length === {len(wrong)}")
        for at, (_, words) in enumerate(wrong):
            one = page.locator("tilewise-widget").nth(at)
            expect(one.get_by_role("alert")).to_contain_text(words)
            expect(one.get_by_alt_text("A picture")).to_be_visible()
            assert words in one.evaluate("(one) => one.getState().catch((error) => error.message)")
            for told in page.evaluate("() => [said, warned]"):
                assert any(words in other for other in told)

    def test_every_attribute_may_change(self, driven: Driven):
        page = driven.page
        position = page.frame_locator("tilewise-widget iframe").locator('[data-part="position"]')
        page.evaluate(
            "() => { const one = document.querySelector('tilewise-widget'); one.setAttribute('scores', '2,7'); one.setAttribute('step', '1'); }"
        )
        expect(position).to_have_text("1 of 2")
        driven("(one) => one.setAttribute('scores', 'oops')")
        expect(page.get_by_role("alert")).to_contain_text("'oops' is not a number", timeout=15_000)
        expect(position).to_have_text("1 of 2")
        driven("(one) => one.setAttribute('scores', '2,7,1')")
        expect(position).to_have_text("1 of 3")
        expect(page.get_by_role("alert")).to_have_count(0)
        driven("(one) => one.step(1)")
        driven("(one) => one.setAttribute('theme', 'dark')")
        expect(page.frame_locator("tilewise-widget iframe").locator("html")).to_have_attribute("data-theme", "dark")
        expect(position).to_have_text("2 of 3")
        driven("(one) => { one.setAttribute('machine', 'division-order'); one.removeAttribute('scores'); }")
        expect(page.frame_locator("tilewise-widget iframe").locator("[data-widget]")).to_have_attribute("data-widget", "division-order")

    def test_it_may_move_in_the_page(self, driven: Driven):
        page = driven.page
        driven("(one) => one.setState({ query: 'scores=2,7,1,3', step: 4 })")
        driven("(one) => { const place = document.createElement('section'); document.body.prepend(place); place.append(one); }")
        assert driven("(one) => one.getState()")["spec"]["scores"] == [2, 7, 1, 3]
        expect(page.frame_locator("tilewise-widget iframe").locator('[data-part="position"]')).to_have_text("4 of 4")

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
        said = Driven(page)("(one) => one.getState().catch((error) => error.message)")
        assert "No widget answers from http://localhost:1/embed/online-softmax" in str(said)
        expect(page.get_by_alt_text("A picture")).to_be_visible()
        expect(page.get_by_role("alert")).to_have_count(0)


def test_an_isolated_host(host: Host, request: pytest.FixtureRequest):
    """JupyterLite and other pages with threads are sent so: what they frame has to agree, or it is not shown."""
    page = host(
        f'<iframe src="{{site}}/embed/online-softmax?{FIVE}" width="800" height="620" title="w"></iframe>{TestTheElement.TAG}{TestTheElement.SCRIPT}'
    )
    assert page.evaluate("() => crossOriginIsolated") is True
    walk(frame_of(page, "body > iframe"), 5)
    page.locator("tilewise-widget").scroll_into_view_if_needed()
    walk(frame_of(page, "tilewise-widget iframe"), 5, 3)


def test_an_isolated_host_is_told_what_is_wrong(host: Host):
    page = host(f'<tilewise-widget machine="nope"></tilewise-widget>{TestTheElement.SCRIPT}')
    expect(page.get_by_role("alert")).to_contain_text("There is no widget 'nope'")


def test_a_script_of_another_site_posts_to_the_api(host: Host):
    page = host("<p>A notebook</p>")
    told = page.evaluate(
        """async (url) => {
             const body = JSON.stringify({ spec: { scores: [1, 3, 2] }, start: 1, count: 1 });
             const answer = await fetch(url, { method: "POST", headers: { "Content-Type": "application/json" }, body });
             const cached = await fetch(`${url}?scores=1,3,2`, { headers: { "If-None-Match": '"x"' } });
             return [answer.status, (await answer.json()).start, answer.headers.get("X-Request-ID"), cached.headers.get("ETag")]; }""",
        f"{host.site}/api/v1/machines/online-softmax/snapshots",  # type: ignore[attr-defined]
    )
    assert told[:2] == [200, 1]
    assert all(told)


def test_a_strict_host_allows_three_sources(host: Host):
    site = host.site  # type: ignore[attr-defined]
    policy = f"default-src 'none'; script-src 'sha256-{{hash}}' {site}; frame-src {site}; img-src {site}"
    listen = base64.b64encode(sha256(LISTEN.encode()).digest()).decode()
    page = host(f"{TestTheElement.TAG}{TestTheElement.SCRIPT}", csp=policy.format(hash=listen))
    walk(frame_of(page, "tilewise-widget iframe"), 5, 3)


def test_the_script_is_small():
    assert len(load().files["embed.js"].coded["br"]) < 2500

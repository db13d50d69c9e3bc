"""axe finds nothing: at the start, mid-run, at the end, overflowed, with bad input, dark, narrow, and on every other page."""

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Watch
from tests.pages.driver import Widget, clean


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 320])
def test_a_run_from_start_to_overflow(page: Page, widget: Widget, width: int, scheme: str):
    page.set_viewport_size({"width": width, "height": 720})
    page.emulate_media(color_scheme=scheme)
    widget.open()
    clean(page)
    widget.plotted()
    clean(page)
    widget.slide("step", 6)
    widget.at(6)
    clean(page)
    widget.slide("step", 8)
    widget.slide("offset", 80)
    expect(widget.mark("failed")).to_have_attribute("data-on", "yes")
    widget.root.locator("details.own summary").click()
    clean(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_bad_input(page: Page, widget: Widget, watch: Watch, scheme: str):
    watch.expect("status of 422")
    page.emulate_media(color_scheme=scheme)
    widget.open("step=3")
    widget.fill("scores", "1, two")
    expect(widget.error("scores")).to_be_visible()
    clean(page)
    widget.open("scores=1,two&block=0")
    clean(page)


@pytest.mark.parametrize(
    "query", ["scores=1,3,2&values=2,0;0,2;1,1&step=2", "scores=1,nan,2&step=3&view=projector", "scores=-inf,1&step=1"]
)
def test_other_states(page: Page, widget: Widget, query: str):
    widget.open(query)
    clean(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/embed/online-softmax?step=6"])
def test_other_pages(page: Page, path: str, scheme: str):
    page.emulate_media(color_scheme=scheme)
    page.goto(path)
    clean(page)


@pytest.mark.parametrize("path", ["/nothing/here", "/widgets/online-softmax?step=99"])
def test_pages_that_are_not_there(page: Page, watch: Watch, path: str):
    watch.expect("status of 404")
    page.goto(path)
    clean(page)


def test_before_script_arrives(page: Page, widget: Widget):
    page.route("**/js/**", lambda route: route.fulfill(body="", content_type="text/javascript"))
    widget.open("step=6", script=False)
    expect(widget.action("apply").first).to_be_visible()
    clean(page)


def test_the_parts_have_their_names_in_words(page: Page, widget: Widget):
    widget.open("step=6")
    expect(widget.root).to_have_role("region")
    expect(widget.root).to_have_accessible_name("Online softmax")
    for name in ("Drawn for you: the scores that it has already forgotten", "The old way: exp(score)"):
        expect(page.get_by_role("img", name=name)).to_have_count(1)
    expect(page.get_by_role("table", name="Every score, in numbers")).to_be_visible()
    expect(widget.field("step")).to_have_accessible_name("Step")
    expect(widget.field("step")).to_have_attribute("aria-valuetext", "step 6 of 8")
    expect(widget.field("offset")).to_have_accessible_name("Added to every score")
    for field in ("scores", "values", "block", "accumulate", "format", "offset"):
        assert widget.field(field).get_attribute("aria-describedby")


def test_every_page_says_its_language_and_has_one_heading(page: Page):
    for path in ("/", "/widgets/online-softmax"):
        page.goto(path)
        expect(page.locator("html")).to_have_attribute("lang", "en")
        expect(page.locator("h1")).to_have_count(1)
        expect(page.locator("main")).to_have_count(1)

"""Script off: the server's page and plain forms do it all."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Watch
from tests.pages.driver import DEFAULT, Api, Widget


@pytest.fixture
def plain(new_context) -> Widget:
    return Widget(new_context(java_script_enabled=False).new_page())


def test_next_to_the_end_and_back(plain: Widget, api: Api):
    run = api.run(DEFAULT)
    plain.open(script=False)
    plain.agrees(run[0])
    for shot in run[1:]:
        plain.press("next")
        plain.agrees(shot)
    plain.action("next").click(force=True)
    plain.agrees(run[8])
    plain.press("back")
    plain.agrees(run[7])
    plain.press("reset")
    plain.agrees(run[0])


def test_what_needs_script_is_not_offered(plain: Widget):
    plain.open("step=3", script=False)
    expect(plain.action("play")).to_be_hidden()
    expect(plain.action("speed")).to_be_hidden()
    expect(plain.action("apply").first).to_be_visible()


def test_own_scores_values_and_format(plain: Widget, api: Api):
    plain.open(script=False)
    plain.fill("scores", "1, 3\n2, -inf")
    plain.fill("values", "2,0;0,2;1,1;5,5")
    plain.fill("block", "2")
    plain.field("format").select_option("float16")
    plain.action("apply").locator("visible=true").last.click()
    run = api.run("scores=1,3,2,-inf&values=2,0;0,2;1,1;5,5&block=2&format=float16")
    plain.agrees(run[0])
    expect(plain.field("scores")).to_have_value("1,3,2,-inf")
    expect(plain.field("format")).to_have_value("float16")
    for shot in run[1:]:
        plain.press("next")
        plain.agrees(shot)


def test_the_slider(plain: Widget, api: Api):
    plain.open("step=8", script=False)
    plain.slide("offset", 80)
    plain.action("apply").locator("visible=true").last.click()
    for shot in api.run(f"{DEFAULT}&offset=80"):
        plain.agrees(shot)
        plain.action("next").click(force=True)
    expect(plain.mark("failed")).to_have_attribute("data-on", "yes")
    expect(plain.part("offset")).to_have_text("+80")


def test_a_preset_and_the_link(plain: Widget, api: Api):
    plain.open("step=5", script=False)
    plain.page.get_by_role("link", name="Rising").click()
    run = api.run("scores=1,2,3,4,5,6")
    plain.agrees(run[0])
    plain.press("next")
    plain.press("share")
    plain.agrees(run[1])
    assert plain.page.url.endswith("/" + run[1]["links"]["page"])


def test_bad_input_is_a_422_page_with_the_form_as_typed(plain: Widget, api: Api, watch: Watch):
    watch.expect("status of 422")
    plain.open(script=False)
    plain.fill("scores", "1, two, 3")
    plain.fill("block", "0")
    with plain.page.expect_response(re.compile("/widgets/")) as answer:
        plain.action("apply").locator("visible=true").last.click()
    assert answer.value.status == 422
    expect(plain.error("scores")).to_be_visible()
    expect(plain.error("scores")).to_contain_text("'two'")
    expect(plain.error("block")).to_contain_text("'0'")
    expect(plain.field("scores")).to_have_value("1, two, 3")
    expect(plain.field("scores")).to_have_attribute("aria-invalid", "true")
    assert plain.error("scores").get_attribute("id") in (plain.field("scores").get_attribute("aria-describedby") or "")
    plain.agrees(api.run(DEFAULT)[0])
    plain.fill("scores", "1, 2, 3")
    plain.fill("block", "1")
    plain.action("apply").locator("visible=true").last.click()
    plain.agrees(api.run("scores=1,2,3")[0])


def test_the_picture_is_there(plain: Widget):
    plain.open("step=6", script=False)
    for chart in ("sizes", "exps"):
        expect(plain.root.locator(f'[data-swap="{chart}"] svg')).to_be_visible()
        expect(plain.root.locator(f'[data-plot="{chart}"]')).to_be_hidden()
    assert [bar["role"] for bar in plain.bars("sizes")] == ["kept"] * 5 + ["now", "unread", "unread"]
    assert [outline["role"] for outline in plain.bars("sizes", "was")] == ["was"] * 5


def test_the_home_page_leads_here(new_context):
    page: Page = new_context(java_script_enabled=False).new_page()
    page.goto("/")
    page.get_by_role("link", name="Read the first score").click()
    Widget(page).at(1, 8)


def test_the_embed_works_too(plain: Widget, api: Api):
    plain.open("step=3", path="/embed/online-softmax", script=False)
    plain.press("next")
    plain.agrees(api.run(DEFAULT)[4])
    assert "/embed/" in plain.page.url

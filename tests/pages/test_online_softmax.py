"""Reading the scores one by one: by mouse, by keys, by the slider, by playing."""

import pytest
from playwright.sync_api import Page, expect

from tests.pages.driver import DEFAULT, PATH, Api, Widget

VALUES = "scores=1,3,2,5,4&values=10,20,30,40,50"


def test_eight_clicks_read_eight_scores(widget: Widget, api: Api):
    widget.open()
    for shot in api.run(DEFAULT)[1:]:
        widget.press("next")
        widget.agrees(shot)
    assert shot["done"]


def test_the_numbers_of_the_story(widget: Widget):
    """Two rescales, a tie that rescales nothing, and a tally that falls from 2.871 to 1.389."""
    widget.open()
    said = []
    for _ in range(8):
        widget.press("next")
        said.append((widget.value("m").inner_text(), widget.value("l").inner_text(), widget.mark("rescales").get_attribute("data-on")))
    assert [m for m, _, _ in said] == ["6", "6", "7", "7", "7", "9", "9", "9"]
    assert [l for _, l, _ in said] == ["1", "1.368", "1.503", "1.871", "2.871", "1.389", "1.756", "1.806"]
    assert [step for step, (_, _, rescales) in enumerate(said, 1) if rescales == "yes"] == [3, 6]


def test_the_numbers_change_inside_the_click(widget: Widget):
    widget.open("step=5")
    told = widget.root.evaluate(
        """(root) => {
          root.querySelector('[data-action="next"]').click();
          return [root.querySelector('data[data-value="m"]').textContent, root.querySelector('[data-part="position"]').textContent];
        }"""
    )
    assert told == ["9", "6 of 8"]


def test_clicks_faster_than_any_drawing_are_all_counted(widget: Widget, api: Api):
    widget.open()
    widget.action("next").evaluate("(button) => { for (let i = 0; i < 7; i++) button.click(); }")
    widget.agrees(api.run(DEFAULT)[7])


def test_eight_presses_of_enter_and_space(widget: Widget, api: Api):
    widget.open()
    widget.action("next").focus()
    for shot, key in zip(api.run(DEFAULT)[1:], ["Enter", "Space"] * 4, strict=True):
        widget.keyboard.press(key)
        widget.agrees(shot)


def test_the_keyboard_alone_gets_there(page: Page, widget: Widget):
    widget.open()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(12):
        page.keyboard.press("Tab")
        if widget.action("next").evaluate("(button) => button === document.activeElement"):
            break
    expect(widget.action("next")).to_be_focused()
    page.keyboard.press("Enter")
    widget.at(1)


def test_focus_stays_on_the_button_at_the_end(widget: Widget, api: Api):
    widget.open("step=7")
    button = widget.action("next")
    button.focus()
    widget.keyboard.press("Enter")
    widget.agrees(api.run(DEFAULT)[8])
    expect(button).to_be_focused()
    expect(button).to_have_attribute("aria-disabled", "true")
    assert button.get_attribute("disabled") is None
    widget.keyboard.press("Enter")
    button.click(force=True)
    widget.stays(8)
    widget.press("back")
    assert button.get_attribute("aria-disabled") is None


def test_arrow_keys_home_end_and_k(widget: Widget, api: Api):
    widget.open()
    run = api.run(DEFAULT)
    widget.action("next").focus()
    for key, step in [("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("End", 8), ("ArrowRight", 8), ("Home", 0), ("ArrowLeft", 0)]:
        widget.keyboard.press(key)
        widget.agrees(run[step])
    widget.keyboard.press("k")
    expect(widget.action("play")).to_have_text("Pause")
    widget.keyboard.press("k")
    expect(widget.action("play")).to_have_text("Play")


def test_keys_do_nothing_inside_a_field(widget: Widget):
    widget.open("step=3")
    widget.root.locator("details.own summary").click()
    for place in (widget.field("scores"), widget.field("values"), widget.field("block"), widget.part("table")):
        place.focus()
        for key in ("ArrowRight", "End", "ArrowLeft", "Home"):
            widget.keyboard.press(key)
            widget.stays(3)


def test_k_typed_into_a_field_does_not_play(widget: Widget, watch):
    watch.expect("status of 422")
    widget.open("step=3")
    widget.root.locator("details.own summary").click()
    widget.field("scores").focus()
    widget.keyboard.press("End")
    widget.keyboard.press("k")
    expect(widget.action("play")).to_have_text("Play")
    expect(widget.field("scores")).to_have_value("6,5,7,6,7,9,8,6k")
    expect(widget.error("scores")).to_contain_text("'6k'")
    widget.stays(3)


def test_keys_do_nothing_outside_the_widget(page: Page, widget: Widget):
    widget.open("step=3")
    for selector in ("a.brand", "footer a >> nth=0"):
        page.locator(selector).focus()
        for key in ("ArrowRight", "End", "k"):
            page.keyboard.press(key)
        widget.stays(3)
    expect(widget.action("play")).to_have_text("Play")


def test_keys_with_a_modifier_belong_to_the_browser(widget: Widget):
    widget.open("step=3")
    widget.action("next").focus()
    for key in ("Control+ArrowRight", "Shift+End", "Control+Home"):
        widget.keyboard.press(key)
        widget.stays(3)


def test_keys_can_be_turned_off(page: Page, widget: Widget):
    widget.open("step=3&keys=0")
    widget.action("next").focus()
    for key in ("ArrowRight", "End", "Home", "k"):
        page.keyboard.press(key)
    widget.stays(3)
    expect(widget.action("play")).to_have_text("Play")
    page.keyboard.press("Enter")
    widget.at(4)
    page.wait_for_function("() => location.search.endsWith('&step=4&keys=0')")


def test_back_and_reset(widget: Widget, api: Api):
    run = api.run(DEFAULT)
    widget.open("step=8")
    for step in (7, 6, 5):
        widget.press("back")
        widget.agrees(run[step])
    widget.press("reset")
    widget.agrees(run[0])


def test_the_slider_seeks(widget: Widget, api: Api):
    run = api.run(DEFAULT)
    widget.open()
    for step in (5, 2, 8, 0):
        widget.slide("step", step)
        widget.agrees(run[step])
    widget.field("step").focus()
    widget.keyboard.press("ArrowRight")
    widget.agrees(run[1])
    widget.keyboard.press("End")
    widget.agrees(run[8])


class TestPlaying:
    @pytest.fixture
    def played(self, page: Page, widget: Widget) -> Widget:
        """At the start, with a clock that stands until it is turned."""
        page.clock.install(time=0)
        page.clock.pause_at(1)
        widget.open()
        return widget

    def test_starts_paused(self, played: Widget):
        played.page.clock.run_for(10_000)
        played.stays(0)

    def test_a_step_a_beat_until_paused(self, played: Widget, api: Api):
        clock, run = played.page.clock, api.run(DEFAULT)
        played.press("play")
        expect(played.action("play")).to_have_text("Pause")
        for step in (1, 2, 3):
            clock.run_for(1400)
            played.agrees(run[step])
        played.press("play")
        expect(played.action("play")).to_have_text("Play")
        clock.run_for(10_000)
        played.agrees(run[3])

    def test_to_the_end_and_from_there_anew(self, played: Widget, api: Api):
        clock, run = played.page.clock, api.run(DEFAULT)
        played.press("play")
        clock.run_for(1400 * 8)
        played.agrees(run[8])
        expect(played.action("play")).to_have_text("Play")
        expect(played.action("play")).to_be_focused()
        clock.run_for(10_000)
        played.stays(8)
        played.press("play")
        played.agrees(run[0])
        clock.run_for(1400)
        played.agrees(run[1])

    def test_speed(self, played: Widget):
        clock = played.page.clock
        played.menu_for("speed")
        played.action("speed").select_option("fast")
        played.press("play")
        clock.run_for(700)
        played.at(1)
        played.menu_for("speed")
        played.action("speed").select_option("slow")
        clock.run_for(700)
        played.at(2)
        clock.run_for(2700)
        played.stays(2)
        clock.run_for(100)
        played.at(3)

    @pytest.mark.parametrize("act", ["next", "back", "reset"])
    def test_a_step_by_hand_pauses(self, played: Widget, act: str):
        clock = played.page.clock
        played.press("play")
        clock.run_for(1400 * 2)
        played.press(act)
        step = {"next": 3, "back": 1, "reset": 0}[act]
        played.at(step)
        expect(played.action("play")).to_have_text("Play")
        clock.run_for(10_000)
        played.stays(step)

    def test_the_spoken_line_is_quiet(self, played: Widget, api: Api):
        clock, run = played.page.clock, api.run(DEFAULT)
        live = played.part("live")
        played.press("play")
        clock.run_for(1400 * 3)
        played.at(3)
        expect(live).to_be_empty()
        played.press("next")
        expect(live).to_have_text(run[4]["spoken"])

    def test_the_address_follows(self, played: Widget, api: Api):
        played.press("play")
        played.page.clock.run_for(1400 * 2)
        played.page.clock.run_for(100)
        assert played.page.url.endswith("/" + api.run(DEFAULT)[2]["links"]["page"])


def test_each_step_is_spoken_once_made(widget: Widget, api: Api):
    widget.open()
    live = widget.part("live")
    expect(live).to_have_attribute("aria-live", "polite")
    expect(live).to_be_empty()
    for shot in api.run(DEFAULT)[1:4]:
        widget.press("next")
        expect(live).to_have_text(shot["spoken"])
    assert "minus" in shot["spoken"]


@pytest.mark.parametrize("query", [DEFAULT, VALUES, f"{DEFAULT}&offset=80&format=bfloat16&block=3"])
def test_the_address_is_the_state(page: Page, widget: Widget, api: Api, site: str, query: str):
    widget.open(query + "&utm_source=a&fbclid=b")
    run = api.run(query)
    for shot in run[1:]:
        widget.press("next")
        address = f"{site}/{shot['links']['page']}"
        page.wait_for_function("(address) => location.href === address", arg=address)
        page.reload()
        widget.ready()
        widget.agrees(shot)
        assert page.url == address


def test_back_from_another_page_shows_the_same_state(page: Page, widget: Widget, api: Api):
    widget.open()
    widget.slide("step", 5)
    page.wait_for_function("() => location.search.endsWith('step=5')")
    page.locator("a.brand").click()
    expect(page).to_have_url("/")
    page.go_back()
    widget.ready()
    widget.agrees(api.run(DEFAULT)[5])


def test_steps_are_local(page: Page, widget: Widget):
    """No step of a run that came with the page asks the server for anything."""
    widget.open()
    widget.plotted()
    asked: list[str] = []
    page.on("request", lambda request: request.url.endswith("/icon.svg") or asked.append(request.url))  # asked anew with each address
    for _ in range(8):
        widget.press("next")
    widget.press("reset")
    widget.at(0)
    page.wait_for_function("() => location.search.endsWith('step=0')")
    assert asked == []


def test_the_last_score_of_a_full_list_is_fetched_ahead(page: Page, widget: Widget, api: Api):
    """64 scores make 65 snapshots, one more than a page brings."""
    query = "scores=" + ",".join(str(i % 7) for i in range(64))
    widget.open(f"{query}&step=40")
    with page.expect_response("**/api/v1/**"):
        widget.slide("step", 63)
    widget.press("next")
    widget.agrees(api.run(query)[64])


def test_storage_that_throws_changes_nothing(page: Page, widget: Widget, api: Api):
    page.add_init_script(
        """for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"])
             Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });
           Object.defineProperty(Document.prototype, "cookie", { get() { throw new DOMException("denied", "SecurityError"); } });"""
    )
    widget.open()
    widget.plotted()
    run = api.run(DEFAULT)
    widget.press("next")
    widget.agrees(run[1])
    widget.slide("step", 8)
    widget.agrees(run[8])
    widget.slide("offset", 80)
    expect(widget.mark("failed")).to_have_attribute("data-on", "yes")


def test_no_cookie_and_nothing_stored(page: Page, widget: Widget):
    widget.open()
    widget.press("next")
    assert page.context.cookies() == []
    assert page.evaluate("() => [localStorage.length, sessionStorage.length]") == [0, 0]


class TestLinkToThisStep:
    def test_it_is_copied(self, page: Page, widget: Widget, api: Api, site: str):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        widget.open("step=3")
        widget.press("share")
        expect(widget.part("shared")).to_have_text("Link copied.")
        assert page.evaluate("() => navigator.clipboard.readText()") == f"{site}/{api.run(DEFAULT)[3]['links']['page']}"
        widget.press("next")
        expect(widget.part("shared")).to_be_empty()
        assert page.url.startswith(site + PATH)

    @pytest.mark.parametrize("clipboard", ["{ writeText: () => Promise.reject(new Error('denied')) }", "undefined"])
    def test_where_copying_is_denied_the_link_is_shown(self, page: Page, widget: Widget, api: Api, site: str, clipboard: str):
        page.add_init_script(f"Object.defineProperty(Navigator.prototype, 'clipboard', {{ get: () => ({clipboard}) }})")
        widget.open("step=3")
        widget.press("share")
        expect(widget.part("shared")).to_have_text(f"{site}/{api.run(DEFAULT)[3]['links']['page']}")

    def test_it_opens_in_a_new_tab_as_any_link(self, page: Page, widget: Widget, api: Api):
        widget.open("step=3")
        with page.context.expect_page() as opened:
            widget.menu_for("share")
            widget.action("share").click(modifiers=["ControlOrMeta"])
        Widget(opened.value).agrees(api.run(DEFAULT)[3])

"""The stage: button, sentence and the whole effect of a step are on the screen together, at every step, in every window."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from app.specs import query
from app.stories import PAGES
from tests.pages.driver import Widget, clean

SIZES = {"laptop": (1366, 625), "desktop": (1280, 720), "phone": (390, 700), "frame": (700, 520)}
EVERY_STEP = """
async () => {
  const look = () => {
    const stage = document.querySelector('[data-part="stage"]');
    const there = (one) => one && one.getClientRects().length && getComputedStyle(one).visibility === "visible";
    const parts = [...stage.querySelectorAll('[data-action="next"], [data-part="caption"], .picture > svg, .scene input, .scene select, .verdict, .ledger')].filter(there);
    const out = parts.map((one) => [one, one.getBoundingClientRect()]).filter(([, box]) => box.top < -1 || box.left < -1 || box.bottom > innerHeight + 1 || box.right > innerWidth + 1);
    const bars = stage.querySelector(".transport").getBoundingClientRect();
    const under = parts.filter((one) => !one.closest(".transport")).map((one) => [one, one.getBoundingClientRect()])
      .filter(([, box]) => box.bottom > bars.top + 1 && box.top < bars.bottom - 1 && box.right > bars.left + 1 && box.left < bars.right - 1);
    const small = [...stage.querySelectorAll(".picture > svg")].map((svg) => svg.getBoundingClientRect()).filter(({ width, height }) => width < 200 || height < 60);
    const name = ([one, box]) => `${one.className.baseVal ?? one.className} ${one.dataset.part ?? one.dataset.action ?? ""} ${Math.round(box.top)}–${Math.round(box.bottom)}`;
    return { step: stage.querySelector('[data-part="position"]').textContent, out: out.map(name), under: under.map(name), small: small.length, scrolled: scrollY, wide: document.documentElement.scrollWidth - innerWidth, caption: stage.querySelector('[data-part="caption"]').textContent };
  };
  const next = document.querySelector('[data-action="next"]');
  const found = [look()];
  while (next.ariaDisabled !== "true") {
    const before = document.querySelector('[data-part="position"]').textContent;
    next.click();
    for (let tried = 0; tried < 600 && document.querySelector('[data-part="position"]').textContent === before; tried++) await new Promise((shown) => requestAnimationFrame(shown));
    await new Promise((shown) => requestAnimationFrame(shown));
    found.push(look());
  }
  return found;
}
"""


def longest(name: str) -> str:
    """Of a widget's presets the one with the most steps, as a query."""
    widget = PAGES[name]
    return query(widget.machine, max((one.spec for one in widget.presets), key=widget.machine.steps))


@pytest.mark.parametrize("size", sorted(SIZES))
@pytest.mark.parametrize("name", sorted(PAGES))
def test_all_of_it_is_on_the_screen_at_every_step(browser: Browser, site: str, name: str, size: str):
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, has_touch=size == "phone", base_url=site, reduced_motion="reduce"
    )
    page = context.new_page()
    page.route("**/vendor/plotly.js", lambda route: route.abort())
    widget = Widget(page)
    for asked in ("", longest(name)):
        widget.open(asked, f"/{'embed' if size == 'frame' else 'widgets'}/{name}")
        steps = int(widget.field("step").get_attribute("max") or 0)
        found: list[dict[str, Any]] = page.evaluate(EVERY_STEP)
        assert [one["step"] for one in found] == [f"{step} of {steps}" for step in range(steps + 1)]
        for one in found:
            where = f"step {one['step']} of {asked or 'default'}"
            assert (one["out"], one["under"], one["small"], one["scrolled"]) == ([], [], 0, 0), where
            assert one["wide"] <= 0, where
            assert one["caption"], where
    context.close()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_an_embed_is_no_higher_than_a_slide(page: Page, name: str):
    page.set_viewport_size({"width": 700, "height": 520})
    page.goto(f"/embed/{name}")
    expect(page.locator("[data-widget]")).to_have_attribute("data-ready", "yes")
    assert page.evaluate("() => document.querySelector('[data-part=stage]').getBoundingClientRect().bottom") <= 520


@pytest.mark.parametrize("width", [320, 640])
@pytest.mark.parametrize("name", sorted(PAGES))
@pytest.mark.usefixtures("without_plotly")
def test_nothing_on_it_overlaps_or_is_cut_when_narrow_or_zoomed(page: Page, name: str, width: int):
    """320 and 640 pixels: also what 1280 become at 400 % and 200 %."""
    page.set_viewport_size({"width": width, "height": 900})
    widget = Widget(page)
    widget.open(path=f"/widgets/{name}")
    widget.press("next")
    widget.at(1)
    clashes = page.evaluate(
        """() => {
          const stage = document.querySelector('[data-part="stage"]');
          const parts = [...stage.querySelectorAll("button, .caption, figcaption, label, output, .verdict, .ledger dt, .ledger dd, .picture > svg")]
            .filter((one) => one.getClientRects().length && one.getBoundingClientRect().width > 2 && !one.closest(".visually-hidden, details:not([open])") && !one.classList.contains("visually-hidden"));
          const hit = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
          const fixed = (one) => one.closest(".transport");
          return parts.flatMap((one, at) => parts.slice(at + 1).filter((other) => !one.contains(other) && !other.contains(one) && Boolean(fixed(one)) === Boolean(fixed(other)) && hit(one.getBoundingClientRect(), other.getBoundingClientRect()))
            .map((other) => `${one.textContent.trim().slice(0, 20)} and ${other.textContent.trim().slice(0, 20)}`));
        }"""
    )
    assert clashes == []
    assert page.evaluate("() => document.documentElement.scrollWidth - innerWidth") <= 0


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1366, "dark")])
@pytest.mark.parametrize("name", sorted(PAGES))
@pytest.mark.usefixtures("without_plotly")
def test_axe_finds_nothing_on_it(page: Page, name: str, width: int, scheme: Any):
    page.set_viewport_size({"width": width, "height": 700})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    widget = Widget(page)
    widget.open(path=f"/widgets/{name}")
    widget.press("next")
    widget.at(1)
    clean(page)


@pytest.mark.usefixtures("without_plotly")
def test_speed_link_and_projector_are_in_one_menu(page: Page, widget: Widget):
    widget.open()
    menu = widget.part("menu")
    expect(widget.action("share")).to_be_hidden()
    menu.locator("summary").focus()
    page.keyboard.press("Enter")
    for name in ("share", "projector", "speed"):
        expect(widget.action(name)).to_be_visible()
    page.keyboard.press("Escape")
    expect(widget.action("share")).to_be_hidden()
    expect(menu.locator("summary")).to_be_focused()
    menu.locator("summary").click()
    widget.press("next")
    expect(widget.action("share")).to_be_hidden()


class TestOnAWall:
    """?view=projector: nothing but the stage, large, and a presenter's clicker steps it."""

    @pytest.fixture
    def wall(self, page: Page, without_plotly: None) -> Page:
        page.set_viewport_size({"width": 1920, "height": 1080})
        page.emulate_media(reduced_motion="reduce")
        return page

    @pytest.mark.parametrize("name", sorted(PAGES))
    def test_its_words_can_be_read_from_the_last_row(self, wall: Page, name: str):
        widget = Widget(wall)
        widget.open("view=projector&step=1", f"/widgets/{name}")
        small = wall.evaluate(
            """() => [...document.querySelectorAll(".picture > svg text, .caption, .position, .verdict, .ledger dt")].filter((text) => text.textContent.trim() && getComputedStyle(text).visibility === "visible")
              .map((text) => [text.textContent.trim(), parseFloat(getComputedStyle(text).fontSize) * (text.ownerSVGElement ? text.ownerSVGElement.getScreenCTM().a : 1)]).filter(([, size]) => size < 20)"""
        )
        assert small == []
        left_over = wall.evaluate(
            """() => [...document.querySelectorAll("header, footer, nav.presets, table, .sharing, .own, .intro")].filter((one) => one.getClientRects().length).map((one) => one.className || one.localName)"""
        )
        assert left_over == []

    def test_page_down_steps_and_b_blanks_without_a_click_first(self, wall: Page):
        widget = Widget(wall)
        widget.open("view=projector&step=5")
        for key, step in (("PageDown", 6), ("ArrowRight", 7), ("PageUp", 6), ("End", 8), ("Home", 0)):
            wall.keyboard.press(key)
            widget.at(step)
        wall.keyboard.press("b")
        expect(widget.part("caption")).to_be_hidden()
        wall.keyboard.press("b")
        expect(widget.part("caption")).to_be_visible()

    def test_elsewhere_these_keys_are_the_browsers(self, wall: Page):
        widget = Widget(wall)
        widget.open("step=5")
        wall.keyboard.press("PageDown")
        wall.keyboard.press("b")
        widget.stays(5)
        expect(widget.part("caption")).to_be_visible()


def test_a_tap_on_the_picture_steps(browser: Browser, site: str):
    context = browser.new_context(viewport={"width": 390, "height": 700}, has_touch=True, base_url=site)
    page = context.new_page()
    page.route("**/vendor/plotly.js", lambda route: route.abort())
    widget = Widget(page)
    widget.open("step=3")
    widget.root.locator('[data-chart="sizes"] .frame').tap()
    widget.at(4)
    widget.field("offset").tap()
    widget.stays(4)
    context.close()


@pytest.mark.usefixtures("without_plotly")
def test_every_frame_of_a_drag_shows_its_own_state(page: Page, widget: Widget):
    """The values come with one question: no answer is waited for while the hand moves, and the bars on the left stay where they are."""
    page.emulate_media(reduced_motion="reduce")
    widget.open("step=8")
    with page.expect_response("**/sweeps/8?*") as answer:
        widget.field("offset").focus()
    answer.value.finished()
    expect(widget.part("turn")).to_have_text("In float32 the old way fails from +80 on.")
    assert widget.field("offset").evaluate("(field) => [...field.list.options].map((one) => one.value)") == ["80"]
    page.route("**/widgets/online-softmax?*", lambda route: None)  # a server that does not answer meanwhile
    seen = widget.field("offset").evaluate(
        """async (field) => {
          const bars = () => [...document.querySelectorAll(".chart-sizes [data-key^='bar/']")].map((bar) => bar.getAttribute("height"));
          const still = bars();
          const found = [];
          for (const value of [10, 40, 79, 80, 90, 79]) {
            field.value = value;
            field.dispatchEvent(new Event("input", { bubbles: true }));
            await new Promise((shown) => requestAnimationFrame(shown));
            const failed = document.querySelectorAll(".chart-exps [data-key^='bar/'][data-role='failed']").length;
            found.push([value, failed, document.querySelector("[data-mark='failed']").dataset.on, document.querySelector(".chart-sizes [data-key='m-name']").textContent, String(bars()) === String(still)]);
          }
          return found;
        }"""
    )
    assert seen == [
        [10, 0, "no", "m = 19", True], [40, 0, "no", "m = 49", True], [79, 0, "no", "m = 88", True],
        [80, 1, "yes", "m = 89", True], [90, 8, "yes", "m = 99", True], [79, 0, "no", "m = 88", True],
    ]  # fmt: skip

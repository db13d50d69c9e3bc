"""320 px wide, by touch, and zoomed to four times: all of it is there, and nothing is cut off or covered."""

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Watch
from tests.pages.driver import DEFAULT, Api, Widget

LONG = "scores=" + ",".join(str((7 * i) % 13 / 2 - 1000) for i in range(64)) + "&values=" + ";".join("123456.789,1e-9,3" for _ in range(64))
PAGES = {
    "start": "/widgets/online-softmax",
    "mid-run": "/widgets/online-softmax?step=6",
    "overflowed": "/widgets/online-softmax?step=8&offset=80",
    "vectors": "/widgets/online-softmax?scores=1,2,0&values=2,0,1,1;0,2,1,1;1,1,1,1&step=2",
    "long": f"/widgets/online-softmax?{LONG}&step=60",
    "projector": "/widgets/online-softmax?step=6&view=projector",
    "embed": "/embed/online-softmax?step=6",
    "home": "/",
}
WIDE = """
() => {
  const scrolls = (one) => { for (let at = one.parentElement; at; at = at.parentElement) if (["auto", "scroll"].includes(getComputedStyle(at).overflowX) && at.scrollWidth > at.clientWidth) return true; };
  const cut = [...document.querySelectorAll("main *, header *, footer *")].filter((one) => {
    if (one.closest("[data-part='table'], svg, .visually-hidden, .skip") || !one.checkVisibility() || getComputedStyle(one).clipPath !== "none" || scrolls(one)) return false;
    const box = one.getBoundingClientRect();
    return box.width > 0 && (box.left < -0.5 || box.right > innerWidth + 0.5 || one.scrollWidth > one.clientWidth + 1 && one.clientWidth > 0 && getComputedStyle(one).overflowX === "hidden");
  });
  return { wide: document.scrollingElement.scrollWidth, inner: innerWidth, cut: cut.map((one) => one.outerHTML.slice(0, 120)) };
}
"""


@pytest.fixture
def phone(new_context) -> Page:
    page: Page = new_context(viewport={"width": 320, "height": 640}, has_touch=True, is_mobile=True).new_page()
    return page


def fits(page: Page) -> None:
    found = page.evaluate(WIDE)
    assert found["wide"] <= 320
    assert found["cut"] == []


@pytest.mark.parametrize("name", PAGES)
def test_no_sideways_scroll_and_nothing_cut_off(phone: Page, name: str):
    phone.goto(PAGES[name])
    fits(phone)
    if name != "home":
        Widget(phone).plotted()
        fits(phone)


def test_bad_input_fits(phone: Page, watch: Watch):
    watch.expect("status of 422")
    widget = Widget(phone)
    widget.open()
    widget.fill("scores", "1," + "x" * 200)
    expect(widget.error("scores")).to_be_visible()
    fits(phone)


def test_no_field_sticks_out_of_its_box(phone: Page):
    widget = Widget(phone)
    widget.open()
    widget.root.locator("details.own summary").click()
    out = phone.evaluate(
        """() => [...document.querySelectorAll(".own input, .own textarea, .own select, .box *:not(svg *)")].filter((one) => {
             const [a, b] = [one.getBoundingClientRect(), one.closest(".own, .box").getBoundingClientRect()];
             return one.checkVisibility() && a.width && (a.left < b.left || a.right > b.right);
           }).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert out == []


def test_the_table_scrolls_by_itself(phone: Page):
    widget = Widget(phone)
    widget.open("step=8&offset=80")
    table = widget.part("table")
    assert table.evaluate("(box) => box.scrollWidth > box.clientWidth")
    assert table.evaluate("(box) => { box.scrollLeft = 10_000; return box.scrollLeft; }") > 0
    expect(table).to_have_attribute("tabindex", "0")


def test_everything_can_be_tapped(phone: Page, api: Api):
    widget = Widget(phone)
    widget.open()
    run = api.run(DEFAULT)
    for step in (1, 2, 3):
        widget.action("next").tap()
        widget.agrees(run[step])
    widget.action("back").tap()
    widget.agrees(run[2])
    widget.action("reset").tap()
    widget.agrees(run[0])
    widget.action("play").tap()
    expect(widget.action("play")).to_have_text("Pause")
    widget.action("play").tap()
    widget.root.locator("details.own summary").tap()
    widget.field("scores").tap()
    expect(widget.field("scores")).to_be_focused()
    phone.get_by_role("link", name="Rising").tap()
    widget.agrees(api.run("scores=1,2,3,4,5,6")[0])


def test_what_is_tapped_is_large_enough(phone: Page):
    """At least 24 by 24 pixels, links in running text aside."""
    widget = Widget(phone)
    widget.open("step=3")
    widget.root.locator("details.own summary").click()
    small = phone.evaluate(
        """() => [...document.querySelectorAll("button, select, input, textarea, summary, a.button, .presets a, nav a")].filter((one) => {
             const box = one.getBoundingClientRect();
             return one.checkVisibility() && (box.width < 24 || box.height < 24);
           }).map((one) => one.outerHTML.slice(0, 100))"""
    )
    assert small == []


def test_charts_do_not_trap_scrolling(phone: Page):
    widget = Widget(phone)
    widget.open("step=6")
    widget.plotted()
    trapped = widget.root.evaluate(
        """(root) => [...root.querySelectorAll(".plot, .plot *")].filter((one) => getComputedStyle(one).touchAction === "none").length"""
    )
    assert trapped == 0


def test_zoomed_to_four_times_the_page_can_still_be_read(page: Page, widget: Widget):
    """A window of 1280 by 1024 at 400 %: what sticks to the top may not fill it."""
    page.set_viewport_size({"width": 320, "height": 256})
    widget.open("step=6")
    widget.value("l").evaluate("(number) => number.scrollIntoView({ block: 'end' })")
    covered = page.evaluate(
        """() => { let rows = 0;
             for (let y = 1; y < innerHeight; y += 4) rows += document.elementFromPoint(innerWidth / 2, y)?.closest(".transport") ? 1 : 0;
             return rows / (innerHeight / 4); }"""
    )
    assert covered <= 0.5


@pytest.mark.parametrize("height", [640, 400])
def test_what_has_the_focus_is_not_covered(page: Page, widget: Widget, height: int):
    """Tab through the whole page: no element with the focus lies wholly under the bar that sticks to the top, either way."""
    page.set_viewport_size({"width": 320, "height": height})
    widget.open("step=6")
    widget.root.locator("details.own summary").click()
    page.locator("a.brand").focus()
    hidden = """
      () => { const one = document.activeElement, bar = document.querySelector(".transport");
        if (one === document.body || bar.contains(one)) return "";
        const a = one.getBoundingClientRect(), b = bar.getBoundingClientRect();
        return a.top >= b.top && a.bottom <= b.bottom ? one.outerHTML.slice(0, 70) : ""; }
    """
    found = []
    for key in ["Tab"] * 32 + ["Shift+Tab"] * 32:
        page.keyboard.press(key)
        found.append(page.evaluate(hidden))
    assert sorted({one for one in found if one}) == []

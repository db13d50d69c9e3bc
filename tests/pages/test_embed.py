"""The widget inside another page: framed, in a strict sandbox, and twice on one page."""

import pytest
from playwright.sync_api import Page, Route, expect

from app.assets import load
from app.figures.file import LIGHT
from app.http.headers import policy
from app.page import page_of
from app.routes.site import Site
from tests.conftest import Watch
from tests.pages.driver import DEFAULT, Api, Widget

VALUES = "scores=1,3,2,5,4&values=10,20,30,40,50"
EMBED = "/embed/online-softmax"
TWO = """
{% extends "base.html" %}
{% import w.template as made %}
{% block head %}{% include "modules.html" %}{% endblock %}
{% block main %}<h1>Two of them</h1>{{ made.render(w, ink, keys, base) }}{{ made.render(second, ink, keys, base) }}{% endblock %}
"""
# Ids that are there twice, and references that lead out of their widget or nowhere.
ASTRAY = """
() => {
  const ids = [...document.querySelectorAll("[id]")].map((one) => one.id);
  const wrong = ids.filter((id, at) => ids.indexOf(id) !== at);
  for (const root of document.querySelectorAll("[data-widget]")) for (const one of root.querySelectorAll("*")) {
    for (const name of ["for", "aria-labelledby", "aria-describedby"])
      for (const id of (one.getAttribute(name) ?? "").split(" ").filter(Boolean))
        if (!root.querySelector(`#${id}`)) wrong.push(`${root.id}: ${name}=${id}`);
    const fill = /url\\(["']?#([^"')]+)/.exec(one.getAttribute("fill") ?? "");
    if (fill && !one.closest(".plot-container") && !root.querySelector(`#${fill[1]}`)) wrong.push(`${root.id}: fill ${fill[1]}`);
  }
  return wrong;
}
"""


class TestEmbed:
    def test_it_steps_and_its_address_is_the_state(self, page: Page, widget: Widget, api: Api, site: str):
        run = api.run(DEFAULT)
        widget.open("step=3", path=EMBED)
        expect(page.locator("header, footer, nav:visible")).to_have_count(0)
        widget.press("next")
        widget.agrees(run[4])
        page.wait_for_function("(address) => location.href === address", arg=f"{site}/{run[4]['links']['embed']}")
        widget.slide("offset", 80)
        expect(widget.value("m")).to_have_text("87")
        widget.agrees(api.run(f"{DEFAULT}&offset=80")[4])
        assert "/embed/" in page.url

    def test_the_way_out_leads_to_the_state_shown(self, page: Page, widget: Widget, api: Api):
        widget.open("step=3", path=EMBED)
        widget.press("next")
        widget.at(4)
        with page.context.expect_page() as opened:
            page.get_by_role("link", name="Open at Tilewise").click()
        Widget(opened.value).agrees(api.run(DEFAULT)[4])

    def test_an_unknown_widget_is_a_404_page(self, page: Page, watch: Watch):
        watch.expect("status of 404")
        answer = page.goto("/embed/none")
        assert answer is not None
        assert answer.status == 404
        expect(page.locator('[data-part="error"]')).to_contain_text("online-softmax")


@pytest.mark.parametrize(
    "sandbox", ["", ' sandbox="allow-scripts allow-same-origin"', ' sandbox="allow-scripts"'], ids=["none", "mild", "strict"]
)
class TestInAFrame:
    """A strict sandbox gives the frame an origin of its own: storage throws, and the address may not change."""

    @pytest.fixture
    def framed(self, page: Page, sandbox: str) -> Widget:
        html = f'<!doctype html><title>article</title><iframe src="{EMBED}?step=2" width="800" height="900"{sandbox}></iframe>'
        page.route("**/article", lambda route: route.fulfill(body=html, content_type="text/html"))
        page.goto("/article")
        found = Widget(page, frame=page.frame_locator("iframe"))
        found.ready()
        return found

    def test_it_steps(self, framed: Widget, api: Api):
        run = api.run(DEFAULT)
        framed.press("next")
        framed.agrees(run[3])
        framed.slide("step", 8)
        framed.agrees(run[8])

    def test_plotly_comes(self, framed: Widget, api: Api):
        framed.plotted()
        framed.press("next")
        framed.agrees(api.run(DEFAULT)[3])
        expect(framed.root.locator(".plot .bars .point").first).to_be_visible()

    def test_the_spec_can_be_changed(self, framed: Widget, api: Api):
        framed.slide("offset", 80)
        expect(framed.value("m")).to_have_text("86")
        framed.agrees(api.run(f"{DEFAULT}&offset=80")[2])


class TestTwoOnAPage:
    @pytest.fixture
    def two(self, page: Page) -> tuple[Widget, Widget]:
        template = Site(load()).environment.from_string(TWO)
        made = [
            page_of("online-softmax", {}, uid="a"),
            page_of("online-softmax", {"scores": "1,3,2,5,4", "values": "10,20,30,40,50", "step": "1"}, uid="b"),
        ]
        html = template.render(
            w=made[0],
            second=made[1],
            ink=LIGHT,
            keys=True,
            projector=False,
            base="",
            static=f"/static/{load().stamp}",
            release="",
            origin="",
        )

        def answer(route: Route) -> None:
            route.fulfill(body=html, content_type="text/html; charset=utf-8", headers=policy("/two", "*"))

        page.route("**/two", answer)
        page.goto("/two")
        found = Widget(page, "#a"), Widget(page, "#b")
        for one in found:
            one.ready()
        return found

    def test_steps(self, two: tuple[Widget, Widget], api: Api, site: str):
        a, b = two
        first, second = api.run(DEFAULT), api.run(VALUES)
        a.press("next")
        a.press("next")
        a.agrees(first[2])
        b.agrees(second[1])
        b.press("next")
        b.slide("step", 4)
        a.agrees(first[2])
        b.agrees(second[4])
        a.action("next").focus()
        a.keyboard.press("End")
        a.agrees(first[8])
        b.agrees(second[4])
        assert a.page.url == f"{site}/two"

    def test_playing(self, two: tuple[Widget, Widget], api: Api):
        a, b = two
        a.press("play")
        expect(b.action("play")).to_have_text("Play")
        b.press("next")
        expect(a.action("play")).to_have_text("Pause")
        a.press("play")

    def test_changed_specs(self, two: tuple[Widget, Widget], api: Api):
        a, b = two
        a.slide("step", 8)
        a.slide("offset", 80)
        expect(a.mark("failed")).to_have_attribute("data-on", "yes")
        a.agrees(api.run(f"{DEFAULT}&offset=80")[8])
        b.agrees(api.run(VALUES)[1])
        b.root.get_by_role("link", name="Falling").click()
        b.agrees(api.run("scores=6,5,4,3,2,1")[0])
        a.agrees(api.run(f"{DEFAULT}&offset=80")[8])
        expect(a.field("scores")).to_have_value("6,5,7,6,7,9,8,6")
        expect(b.field("scores")).to_have_value("6,5,4,3,2,1")

    def test_bad_input(self, two: tuple[Widget, Widget], api: Api, watch: Watch):
        watch.expect("status of 422")
        a, b = two
        b.fill("scores", "1, x")
        expect(b.error("scores")).to_be_visible()
        expect(a.error("scores")).to_have_count(0)
        assert a.field("scores").get_attribute("aria-invalid") is None
        a.press("next")
        a.agrees(api.run(DEFAULT)[1])

    def test_names_stay_apart(self, two: tuple[Widget, Widget]):
        assert two[0].page.evaluate(ASTRAY) == []

    def test_names_stay_apart_after_a_changed_spec(self, two: tuple[Widget, Widget]):
        b = two[1]
        b.slide("offset", 95)
        expect(b.value("m")).to_have_text("96")
        assert b.page.evaluate(ASTRAY) == []
        b.slide("step", 5)
        assert any(bar["role"] == "failed" for bar in b.bars("exps"))
        assert b.page.evaluate(ASTRAY) == []

    def test_names_stay_apart_after_bad_input(self, two: tuple[Widget, Widget], watch: Watch):
        watch.expect("status of 422")
        b = two[1]
        b.fill("block", "x")
        expect(b.error("block")).to_be_visible()
        assert b.page.evaluate(ASTRAY) == []

    def test_a_reload_shows_one_state(self, two: tuple[Widget, Widget], api: Api):
        """The address does not hold their steps, so both start anew, whatever the browser remembers of its fields."""
        a, b = two
        a.slide("step", 5)
        a.at(5)
        a.page.reload()
        a.ready()
        a.agrees(api.run(DEFAULT)[int(a.field("step").input_value())])
        a.press("next")
        b.ready()
        b.agrees(api.run(VALUES)[1])

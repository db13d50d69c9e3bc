"""Own numbers, pasted: what was understood is said beside the field, with script and without; and Back takes back what was changed."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.conftest import Watch
from tests.pages.driver import DEFAULT, Api, Locator, Widget, told


def read(widget: Widget, name: str) -> Locator:
    return widget.root.locator(f'[data-field="{name}"] [data-part="read"]')


class TestPasting:
    def test_what_was_read_is_said_and_the_address_is_canonical(self, widget: Widget, api: Api):
        widget.open("step=8")
        widget.fill("scores", "tensor([1.0000, 3.0000,   -inf], device='cuda:0')")
        expect(read(widget, "scores")).to_have_text("Read as 3 numbers: 1, 3, -inf")
        run = api.run("scores=1,3,-inf")
        widget.agrees(run[0])
        told(widget.page, scores="1,3,-inf", step="0")
        widget.press("next")
        widget.agrees(run[1])
        expect(widget.field("scores")).to_have_value("tensor([1.0000, 3.0000,   -inf], device='cuda:0')")
        assert str(read(widget, "scores").get_attribute("id")) in str(widget.field("scores").get_attribute("aria-describedby"))
        expect(read(widget, "scores")).to_have_attribute("role", "status")

    def test_two_readings_are_asked_about_and_either_can_be_written(self, widget: Widget, api: Api, watch: Watch):
        watch.expect("status of 422")
        widget.open(f"{DEFAULT}&step=5")
        widget.fill("scores", "1,5\t2,5")
        expect(widget.error("scores")).to_contain_text("as 1.5, 2.5 or as 1, 5, 2, 5")
        expect(read(widget, "scores")).to_have_text("")
        widget.agrees(api.run(DEFAULT)[5])
        widget.fill("scores", "1.5 2.5")
        expect(read(widget, "scores")).to_have_text("Read as 2 numbers: 1.5, 2.5")
        expect(widget.error("scores")).to_have_count(0)
        widget.agrees(api.run("scores=1.5,2.5")[0])

    def test_without_script_the_page_opens_at_what_was_read(self, new_context, api: Api):
        plain = Widget(new_context(java_script_enabled=False).new_page())
        plain.open(script=False)
        plain.fill("scores", "[ 1.  3.\n  2.5]")
        plain.action("apply").locator("visible=true").last.click()
        expect(plain.page).to_have_url(re.compile(r"\?scores=1,3,2\.5&format=float32&step=0#"))
        expect(read(plain, "scores")).to_be_visible()
        expect(read(plain, "scores")).to_be_in_viewport()
        expect(read(plain, "scores")).to_have_text("Read as 3 numbers: 1, 3, 2.5")
        expect(plain.field("scores")).to_have_value("1,3,2.5")
        plain.agrees(api.run("scores=1,3,2.5")[0])

    def test_too_much_for_an_address_is_said(self, widget: Widget, api: Api, watch: Watch):
        watch.expect("status of 414")
        widget.open("step=8")
        widget.fill("scores", "1.5 " * 10_000)
        expect(widget.part("shared")).to_contain_text("The address has 40,")
        expect(read(widget, "scores")).to_have_text("")
        widget.agrees(api.run(DEFAULT)[8])


class TestBack:
    def test_a_preset_and_own_scores_are_taken_back(self, page: Page, widget: Widget, api: Api):
        widget.open(f"{DEFAULT}&format=float32&step=3")
        widget.press("next")
        told(page, step="4")
        page.get_by_role("link", name="Rising").click()
        widget.agrees(api.run("scores=1,2,3,4,5,6")[0])
        widget.press("next")
        widget.press("next")
        told(page, step="2")
        widget.fill("scores", "4 2")
        widget.agrees(api.run("scores=4,2")[0])
        told(page, scores="4,2")
        page.go_back()
        widget.agrees(api.run("scores=1,2,3,4,5,6")[2])
        expect(widget.field("scores")).to_have_value("1,2,3,4,5,6")
        expect(read(widget, "scores")).to_have_text("Read as 6 numbers: 1, 2, 3, 4, 5, 6")
        page.go_back()
        widget.agrees(api.run(DEFAULT)[4])
        page.go_forward()
        widget.agrees(api.run("scores=1,2,3,4,5,6")[2])
        page.go_forward()
        widget.agrees(api.run("scores=4,2")[0])
        told(page, scores="4,2", step="0")

    def test_one_visit_of_a_field_is_one_entry_and_steps_are_none(self, page: Page, widget: Widget, api: Api):
        widget.open(DEFAULT)
        before = page.evaluate("() => history.length")
        for _ in range(3):
            widget.press("next")
        for amount in (20, 40, 80):
            widget.slide("offset", amount)
            told(page, offset=str(amount))
        widget.press("next")
        told(page, step="4")
        assert page.evaluate("() => history.length") == before + 1
        widget.field("format").select_option("float16")
        told(page, format="float16")
        assert page.evaluate("() => history.length") == before + 2
        page.go_back()
        expect(widget.field("format")).to_have_value("float32")
        widget.agrees(api.run(f"{DEFAULT}&offset=80")[4])
        page.go_back()
        expect(widget.field("offset")).to_have_value("0")
        widget.agrees(api.run(DEFAULT)[3])

    def test_the_page_as_it_was_opened_comes_back(self, page: Page, widget: Widget, api: Api):
        widget.open()
        page.get_by_role("link", name="Rising").click()
        told(page, scores="1,2,3,4,5,6")
        page.go_back()
        widget.agrees(api.run(DEFAULT)[0])

    def test_what_is_on_its_way_does_not_undo_the_way_back(self, page: Page, widget: Widget, api: Api):
        widget.open(f"{DEFAULT}&step=8")
        page.get_by_role("link", name="Rising").click()
        told(page, scores="1,2,3,4,5,6")
        held = []
        page.route(re.compile("offset=50&"), lambda route: held.append(route) or None)
        with page.expect_request(re.compile("offset=50&")):
            widget.slide("offset", 50)
        page.go_back()
        widget.agrees(api.run(DEFAULT)[8])
        with page.expect_response(re.compile("offset=50&")) as late:
            held[0].continue_()
        late.value.finished()
        expect(widget.root).not_to_have_attribute("aria-busy", "true")
        widget.agrees(api.run(DEFAULT)[8])
        assert "offset" not in page.url

    def test_a_place_on_the_page_is_no_change(self, page: Page, widget: Widget, api: Api):
        widget.open(f"{DEFAULT}&step=5")
        page.evaluate("() => { location.hash = '#main'; }")
        widget.press("next")
        page.go_back()
        widget.agrees(api.run(DEFAULT)[5])

    @pytest.mark.parametrize("path", ["/embed/online-softmax"])
    def test_an_embed_adds_no_entry(self, page: Page, widget: Widget, path: str):
        widget.open(DEFAULT, path=path)
        before = page.evaluate("() => history.length")
        widget.slide("offset", 80)
        told(page, offset="80")
        widget.field("format").select_option("float16")
        told(page, format="float16")
        assert page.evaluate("() => history.length") == before

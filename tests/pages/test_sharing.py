"""What can be pasted and downloaded for a step, from the widget and from its page for sharing."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.pages.driver import DEFAULT, Api, Widget, clean


@pytest.mark.usefixtures("without_plotly")
class TestFromTheWidget:
    def test_it_is_of_the_step_shown(self, page: Page, widget: Widget, api: Api):
        run = api.run(DEFAULT)
        widget.open("step=5")
        box = widget.part("sharing")
        box.locator("summary").click()
        link = box.get_by_role("textbox", name="Link", exact=True)
        expect(link).to_have_value(re.compile(re.escape(run[5]["links"]["page"]) + "$"))
        expect(box.get_by_role("textbox", name="Frame (iframe)")).to_have_value(re.compile("<iframe src=.*step=5.*title="))
        widget.press("next")
        expect(link).to_have_value(re.compile("step=6$"))
        assert page.locator('[data-part="sharing"] [data-part="snippets"]').count() == 1
        clean(page)

    def test_copying(self, page: Page, widget: Widget, site: str):
        page.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=site)
        widget.open("step=2")
        box = widget.part("sharing")
        box.locator("summary").click()
        box.get_by_role("button", name="Copy: Link").click()
        expect(widget.part("shared")).to_have_text("Copied.")
        assert page.evaluate("() => navigator.clipboard.readText()").endswith("step=2")

    def test_what_is_downloaded_is_there(self, page: Page, widget: Widget):
        widget.open("step=2")
        box = widget.part("sharing")
        box.locator("summary").click()
        links = box.locator(".downloads a")
        expect(links).to_have_count(6)
        for i in range(6):
            answer = page.request.get(links.nth(i).get_attribute("href") or "")
            assert answer.status == 200
            assert len(answer.body()) > 500

    def test_without_script_a_link_leads_to_a_page(self, new_context):
        plain_page = new_context(java_script_enabled=False).new_page()
        plain_page.goto("/widgets/online-softmax?step=3")
        plain_page.locator(".sharing summary").click()
        plain_page.get_by_role("link", name="Everything to paste or download").click()
        expect(plain_page.get_by_role("textbox", name="Link", exact=True)).to_have_value(re.compile("step=3$"))
        plain_page.get_by_role("link", name="Back to the widget at this step").click()
        assert "step=3" in plain_page.url

    def test_on_paper_there_is_a_code(self, page: Page, widget: Widget):
        widget.open("step=3")
        expect(widget.part("qr")).to_be_hidden()
        page.emulate_media(media="print")
        expect(widget.part("qr")).to_be_visible()


@pytest.mark.parametrize("name", ["online-softmax", "tiled-attention", "division-order"])
def test_the_page_for_sharing(page: Page, name: str):
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto(f"/share/{name}?step=1")
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 320
    clean(page)


def test_the_guide_fits_a_phone(page: Page):
    page.set_viewport_size({"width": 320, "height": 700})
    page.goto("/guide/embedding")
    assert page.evaluate("() => document.scrollingElement.scrollWidth") <= 320


def test_the_guide_shows_it_live(page: Page):
    page.goto("/guide/embedding")
    page.locator("tilewise-widget").scroll_into_view_if_needed()
    frame = page.frame_locator("tilewise-widget iframe")
    expect(frame.locator("[data-widget]")).to_have_attribute("data-ready", "yes", timeout=15_000)
    told = page.locator('[data-part="told"]')
    page.get_by_role("button", name="step(1)", exact=True).click()
    expect(told).to_contain_text('"step": 4')
    page.get_by_role("button", name="setState({query").click()
    expect(told).to_contain_text('"steps": 3')
    page.get_by_role("button", name="getState()").click()
    expect(told).to_contain_text("getState(): ")

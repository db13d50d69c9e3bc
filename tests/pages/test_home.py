"""The home page: its picture plays once, and its button does what it says."""

import pytest
from playwright.sync_api import Page, expect

from app.runs import snapshots
from app.stories import WIDGETS
from tests.pages.driver import Widget, told

HERO = next(one for one in WIDGETS if one.hero)
CAPTIONS = [shot["caption"] for shot in snapshots(HERO.machine, HERO.presets[0].spec)]


def test_the_picture_plays_once_to_the_step_that_it_shows(page: Page):
    page.clock.install(time=0)
    page.goto("/")
    caption = page.locator("[data-hero] [data-part=caption]")
    expect(caption).to_have_text(CAPTIONS[HERO.hero or 0])
    page.wait_for_function("() => document.querySelector('[data-hero] [data-key=factor]')")
    for step in range((HERO.hero or 0) + 1):
        page.clock.run_for(1900)
        expect(caption).to_have_text(CAPTIONS[step])
        assert page.evaluate("() => document.getAnimations().some((one) => one.effect.target.closest('[data-hero]'))") == (step > 0)
    page.clock.run_for(20_000)
    expect(caption).to_have_text(CAPTIONS[HERO.hero or 0])


def test_it_stands_still_where_no_motion_is_wanted(page: Page):
    page.emulate_media(reduced_motion="reduce")
    page.clock.install(time=0)
    page.goto("/")
    page.clock.run_for(10_000)
    expect(page.locator("[data-hero] [data-part=caption]")).to_have_text(CAPTIONS[HERO.hero or 0])


@pytest.mark.usefixtures("without_plotly")
def test_read_the_first_score_reads_it(page: Page):
    page.goto("/")
    page.get_by_role("link", name="Read the first score").click()
    widget = Widget(page)
    widget.ready()
    widget.at(1)
    told(page, step="1")

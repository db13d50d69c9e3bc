"""Without npm the Plotly of the Python package is served: pages do with it what they do with the small one, and the policy holds."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from app import assets
from tests.conftest import Watch, served


@pytest.fixture(scope="module")
def without_npm() -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assets, "_PLOTLY_SMALL", Path("/no/such/file"))
        assert len(assets.load().files[assets.PLOTLY].coded[""]) > 3_000_000, "the whole one is served"
        with served() as address:
            yield address


@pytest.mark.parametrize("path", ["/widgets/online-softmax?step=1", "/widgets/tiled-attention?step=1", "/widgets/memory-traffic?step=1"])
def test_a_page_steps_on_with_the_whole_plotly(browser: Browser, without_npm: str, path: str):
    watch = Watch(without_npm)
    context = browser.new_context()
    watch.over(context)
    page = context.new_page()
    page.goto(f"{without_npm}{path}")
    page.wait_for_function("() => document.querySelector('[data-plotted]')")
    said = page.locator("[data-part='caption']").first.inner_text()
    page.locator("[data-action='next']").first.click()
    page.wait_for_function("(said) => document.querySelector('[data-part=caption]').innerText !== said", arg=said)
    assert page.evaluate("() => document.querySelectorAll('style').length") == 0
    context.close()
    watch.verdict()


def test_a_lessons_charts(browser: Browser, without_npm: str):
    watch = Watch(without_npm)
    context = browser.new_context()
    watch.over(context)
    page = context.new_page()
    page.goto(f"{without_npm}/lessons/memory-traffic?track=deep")
    page.locator("figure[data-lesson-chart]").first.scroll_into_view_if_needed()
    page.wait_for_function("() => document.querySelector('figure[data-lesson-chart][data-plotted]')")
    context.close()
    watch.verdict()

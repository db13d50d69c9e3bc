import pytest
from playwright.sync_api import Page

from tests.pages.driver import Api, Widget


@pytest.fixture(scope="session")
def api(site: str) -> Api:
    return Api(site)


@pytest.fixture
def widget(page: Page) -> Widget:
    """The widget of the page that the test opens."""
    return Widget(page)


@pytest.fixture
def without_plotly(page: Page) -> None:
    """Plotly never arrives: the server's picture stays."""
    page.route("**/vendor/plotly.js", lambda route: None)

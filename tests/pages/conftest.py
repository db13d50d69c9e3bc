import inspect
import re

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


BARE = ("test_online_softmax", "test_online_softmax_spec", "test_tiles", "test_narrow", "test_axe", "test_embed")


@pytest.fixture(autouse=True)
def plotly_only_where_it_is_looked_at(request: pytest.FixtureRequest) -> None:
    """Starting Plotly takes half a second of each page: tests that never ask whether it has drawn go without."""
    looked_at = re.search("plot|mapped", inspect.getsource(request.function), re.IGNORECASE)
    if request.path.stem in BARE and not looked_at and "page" in request.fixturenames:
        request.getfixturevalue("without_plotly")


@pytest.fixture
def without_plotly(page: Page) -> None:
    """Plotly never arrives: the server's picture stays."""
    page.route("**/vendor/plotly.js", lambda route: None)

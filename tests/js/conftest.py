from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from app.assets import load
from tests.conftest import Watch

Core = Callable[..., Any]


@pytest.fixture(scope="session")
def desk(browser: Browser, site: str) -> Iterator[Page]:
    """One page of the site, for scripts that leave nothing behind on it."""
    watch = Watch(site)
    context = browser.new_context()
    watch.over(context)
    page = context.new_page()
    page.goto(site)
    yield page
    context.close()
    watch.verdict()


@pytest.fixture(scope="session")
def core(desk: Page, site: str) -> Core:
    """Runs script with a module of static/js/core at hand: core("player", "return new module.Player(3).steps")."""
    stamp = load().stamp

    def run(name: str, body: str, given: Any = None) -> Any:
        return desk.evaluate(
            f"async (given) => {{ const module = await import('{site}/static/{stamp}/js/core/{name}.js'); {body} }}", given
        )

    return run

"""The demo, and django-oscar connected to it: real processes, each in the environment of its own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import requests
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.chromium import PATIENCE, launch
from tests.connected.databases import rows_of
from tests.demo.process import Demo
from tests.ports import free_port
from tests.waiting import wait_until
from tools.connected_demo import OWNER, PASSWORD, PYTHON, Shop, framing_of


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Only where they are named: they need Oscar's environment, and minutes."""
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    for item in here:
        item.add_marker(pytest.mark.connected)
    if "connected" not in config.option.markexpr:
        items[:] = [item for item in items if item not in here]
        config.hook.pytest_deselected(items=here)


class Connected:
    """Both sides, and the sample app's own records."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.demo = Demo(folder / "var", *framing_of(port))
        self.shop = Shop(folder / "oscar", port=port, platform=self.demo.url, OSCAR_BUDGET_MS="5000")

    def start(self) -> None:
        with ThreadPoolExecutor(1) as beside:
            prepared = beside.submit(self.shop.prepare)
            self.demo.start()
            prepared.result()
        self.shop.connect(self.demo.environment())
        self.shop.start_web()
        self.shop.start_sender()
        wait_until(lambda: self.in_shop("SELECT 1 FROM extension_platform_row WHERE kept > 0"), 30)

    def stop(self) -> None:
        self.shop.stop()
        self.demo.end()

    def in_shop(self, statement: str, *values: Any) -> list[Any]:
        """Rows of Oscar's database."""
        return rows_of(self.shop.folder / "shop.sqlite3", statement, values)

    def at_app(self, statement: str, *values: Any) -> list[Any]:
        """Rows of the sample app's database."""
        return rows_of(self.demo.var_dir / "sample-app" / "state.sqlite3", statement, values)

    def at_platform(self, statement: str, *values: Any) -> list[Any]:
        return rows_of(self.demo.var_dir / "extension-platform.sqlite3", statement, values)

    @property
    def token(self) -> str:
        """The app's, for this shop."""
        [(token,)] = self.at_app(
            "SELECT access_token FROM stores WHERE business_name = 'Harbor Goods' AND ended_at IS NULL"
        )
        return str(token)

    def app(self, method: str, path: str, **body: Any) -> requests.Response:
        """A call of the app API by the sample app."""
        headers = {"Authorization": f"Bearer {self.token}"}
        return requests.request(
            method, f"{self.demo.url}/app-api{path}", json=body or None, headers=headers, timeout=15
        )


@pytest.fixture(scope="session")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connected]:
    if not PYTHON.exists():
        pytest.fail("Oscar's environment is not here. `make test-connected` makes it.")
    both = Connected(tmp_path_factory.mktemp("connected"))
    try:
        both.start()
        yield both
    finally:
        both.stop()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


class Person:
    """A browser of somebody. `problems` has the errors of the shop's pages in its console."""

    def __init__(self, chromium: Browser, connected: Connected) -> None:
        self.context = chromium.new_context(viewport={"width": 1280, "height": 900})
        self.context.set_default_timeout(PATIENCE)
        self.page: Page = self.context.new_page()
        self.problems: list[str] = []
        self.page.on("console", lambda said: self._note(said.type, said.text))
        self.page.on("pageerror", lambda error: self.problems.append(str(error)))
        self._shop = connected.shop.url

    def _note(self, kind: str, text: str) -> None:
        if kind == "error" and self.page.url.startswith(self._shop):
            self.problems.append(text)

    def sees(self, path: str) -> Page:
        # A stopped platform delays `load` by its script; people can buy.
        self.page.goto(self._shop + path, wait_until="domcontentloaded")
        return self.page

    def add(self, product: str, pieces: int) -> None:
        page = self.sees("/catalogue/")
        page.get_by_role("link", name=product).first.click()
        for _ in range(pieces):
            page.get_by_role("button", name="Add to cart").click()
            page.wait_for_load_state("domcontentloaded")

    def go_to_preview(self, email: str) -> None:
        page = self.sees("/checkout/")
        page.get_by_label("My email address is").fill(email)
        page.get_by_role("button", name="Continue").click()
        address = {"First name": "Kim", "Last name": "Lee", "First line of address": "Quay 1"}
        for label, value in (address | {"City": "Portland", "Post/Zip-code": "97201"}).items():
            page.get_by_label(label).first.fill(value)
        page.get_by_role("button", name="Continue").click()
        page.get_by_role("link", name="Continue").click()
        expect(page.get_by_role("button", name="Place order")).to_be_visible()

    def place_order(self) -> None:
        self.page.get_by_role("button", name="Place order").click()
        self.page.wait_for_load_state("domcontentloaded")


@pytest.fixture
def shopper(chromium: Browser, connected: Connected) -> Iterator[Person]:
    person = Person(chromium, connected)
    yield person
    person.context.close()
    assert person.problems == []


@pytest.fixture
def owner(chromium: Browser, connected: Connected) -> Iterator[Person]:
    """The owner of the shop, signed in to its dashboard."""
    person = Person(chromium, connected)
    page = person.sees("/dashboard/")
    page.get_by_label("Username").fill(OWNER)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Login").click()
    yield person
    person.context.close()

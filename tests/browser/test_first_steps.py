"""From nothing to a seen webhook, with every press and every page counted."""

import re

import pytest
from playwright.sync_api import Page, expect

from .axe import violations
from .conftest import NewPage

pytestmark = pytest.mark.django_db(transaction=True)


class Counted:
    """A page on which presses of links and buttons are counted, and the pages they lead to. Typing is free."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.presses = 0
        self.paths: list[str] = []
        page.on("framenavigated", lambda frame: self._went(frame.url))

    def _went(self, url: str) -> None:
        self.paths.append(re.sub(r"^https?://[^/]+|\?.*$", "", url))

    def press(self, role: str, name: str) -> None:
        self.presses += 1
        self.page.get_by_role(role, name=name, exact=True).first.click()  # type: ignore[arg-type]


@pytest.fixture(autouse=True)
def _plain_http(settings: object) -> None:
    settings.DEBUG = True  # type: ignore[attr-defined]


@pytest.fixture
def counted(new_page: NewPage) -> Counted:
    """The home page, before any press."""
    page = new_page()
    page.goto("/")
    return Counted(page)


def register(counted: Counted) -> None:
    page = counted.page
    counted.press("link", "Register as developer")
    page.get_by_label("Your name").fill("Nora Newcomer")
    page.get_by_label("E-mail").fill("nora@example.net")
    page.get_by_label("Password", exact=True).fill("sea otters hold hands")
    counted.press("button", "Register")


def create_app(counted: Counted) -> None:
    counted.press("link", "Create app")
    counted.page.get_by_label("Name", exact=True).fill("First app")
    counted.press("button", "Create app")


@pytest.mark.spec("Contract 7 Pages", "Sign-up to the first API call takes 5 presses and 4 pages")
def test_sign_up_to_the_first_call(counted: Counted) -> None:
    register(counted)
    create_app(counted)
    counted.press("button", "Run it here")
    result = counted.page.get_by_role("status").filter(has_text="Your first call")
    expect(result).to_contain_text("200 in")
    expect(result).to_contain_text('"name"')
    assert counted.presses == 5
    assert len(counted.paths) == 4
    assert violations(counted.page) == []

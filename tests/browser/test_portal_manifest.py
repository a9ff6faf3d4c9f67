"""The manifest's editor in a browser: typing, problems from the server, fixes, the plan, and all of it without scripts."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from extensions.queries import manifest_document
from extensions.services.manifests import save_manifest
from marketplace.models import App
from tests import factories
from tests.extensions.manifests import block, full, hook

from .axe import violations
from .chromium import overflow
from .conftest import PHONE, NewPage, SignIn

Open = Callable[..., Page]
LOOKS = {"light": {"color_scheme": "light"}, "dark": {"color_scheme": "dark"}, "phone": PHONE}


@pytest.fixture
def stars(dana: User) -> App:
    app = factories.app(dana, name="Loyalty Stars", slug="stars")
    save_manifest(app=app, developer=dana, document=full())
    return app


@pytest.fixture
def editor(new_page: NewPage, sign_in: SignIn, dana: User, stars: App) -> Open:
    """Opens the manifest's page as Dana."""

    def open_it(ending: str = "", **options: object) -> Page:
        page = new_page(**options)
        sign_in(page.context, dana)
        page.goto(f"/portal/apps/{stars.slug}/manifest/{ending}")
        return page

    return open_it


def write(page: Page, text: str) -> None:
    page.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def test_problems_appear_while_typing_and_are_fixed_by_one_press(editor: Open, stars: App) -> None:
    page = editor()
    write(page, '{"hooks": [{"hookPoint": "order.validat", "url": "/x"}]}')
    mark = page.locator(".cm-lintRange-error")
    expect(mark).to_have_text('"order.validat"')
    mark.hover()
    page.get_by_role("button", name='Write "order.validate"').click()
    expect(page.locator(".cm-content")).to_contain_text('"order.validate"')
    expect(mark).to_have_count(0)
    page.get_by_role("button", name="Save…").click()
    expect(page.get_by_role("cell", name="order.validate")).to_be_visible()
    page.get_by_role("button", name="Save manifest").click()
    expect(page.get_by_text("The manifest is saved")).to_be_visible()
    assert manifest_document(stars) == {"hooks": [{"hookPoint": "order.validate", "url": "/x"}]}


def test_a_listed_problem_leads_to_its_place(editor: Open) -> None:
    page = editor()
    write(page, "{" + "\n" * 61 + '"blocks": 1}')
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_role("link", name="Line 62").click()
    expect(page.locator(".cm-content")).to_be_focused()
    expect(page.locator(".cm-activeLine")).to_have_text('"blocks": 1}')


def test_the_editor_is_left_by_keyboard(editor: Open) -> None:
    page = editor()
    page.locator(".cm-content").click()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("button", name="Save…")).to_be_focused()


@pytest.mark.long
@pytest.mark.journey
@pytest.mark.spec("Contract 7 Pages", "The manifest's editor works without JavaScript")
def test_all_of_it_without_scripts(editor: Open, stars: App) -> None:
    page = editor(java_script_enabled=False)
    page.get_by_label("JSON", exact=True).fill('{"hooks": [{"hookPoint": "order.validat", "url": "/x"}]}')
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.get_by_role("heading", name="1 problem in the manifest")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text('Did you mean "order.validate"?')
    page.get_by_label("JSON", exact=True).fill(json.dumps({"blocks": [block(name="Ratings")]}))
    page.get_by_role("button", name="Save…").click()
    page.get_by_role("button", name="Save manifest").click()
    expect(page.get_by_text("The manifest is saved")).to_be_visible()
    assert manifest_document(stars) == {"blocks": [block(name="Ratings")]}
    page.get_by_role("link", name="History").click()
    page.get_by_role("link", name="Restore…").click()
    page.get_by_role("button", name="Restore manifest").click()
    expect(page.get_by_text("The earlier manifest is live again.")).to_be_visible()
    assert manifest_document(stars) == full()


@pytest.mark.slow
@pytest.mark.parametrize("look", LOOKS)
def test_pages_have_no_axe_findings(editor: Open, stars: App, dana: User, look: str) -> None:
    save_manifest(app=stars, developer=dana, document={"hooks": [hook()]})
    page = editor(**LOOKS[look])
    assert violations(page) == []
    assert overflow(page) == 0
    write(page, '{"blocks": [{"renderUrl": "http://a.example"}], "hooks": [{}]}')
    page.get_by_role("button", name="Check", exact=True).click()
    expect(page.locator(".cm-lintRange-error").first).to_be_visible()
    assert violations(page) == []
    write(page, json.dumps(full()))
    page.get_by_role("button", name="Save…").click()
    expect(page.get_by_role("button", name="Save manifest")).to_be_visible()
    assert violations(page) == []
    page.goto("/portal/apps/stars/manifest/history/")
    assert violations(page) == []
    page.get_by_role("link", name="Restore…").first.click()
    assert violations(page) == []
    assert overflow(page) == 0

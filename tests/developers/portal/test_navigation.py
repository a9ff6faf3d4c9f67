"""The navigation of an app's pages: nine sections with tabs."""

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from developers.portal.navigation import SECTIONS
from marketplace.enums import AppRole
from marketplace.models import App
from tests import factories
from tests.pages import HTML, signed_in
from tests.pages_table import FETCHED, ON_APPS, below

CURRENT = re.compile(
    r'<a href="([^"]+)"\s+aria-current="(page|true)">(?:<svg.*?</svg>)?([^<]+)</a>', re.DOTALL
)


def test_every_page_of_an_app_is_in_one_tab() -> None:
    pages = [
        row.name.partition(":")[2]
        for row in below("portal:")
        if row.reads in ON_APPS and FETCHED not in row.marks
    ]
    inside = [route for section in SECTIONS for tab in section.tabs for route in tab.routes]
    assert sorted(inside) == sorted(pages), "Add its tab to developers/portal/navigation.py."
    assert len(SECTIONS) == 9


@pytest.mark.parametrize(
    ("path", "entry", "tab"),
    [
        ("", "Overview page", ""),
        ("details/access/", "Listing true", "Access page"),
        ("logs/", "Logs page", "All page"),
        ("deliveries/", "Logs true", "Deliveries page"),
        ("deliveries/why/", "Webhooks true", "Why didn&#x27;t it arrive? page"),
        ("webhooks/new/", "Webhooks true", ""),
        ("delete/", "Settings true", "Delete app page"),
    ],
)
def test_page_marks_its_entry_and_its_tab(
    browser: Client, app: App, installation: Any, path: str, entry: str, tab: str
) -> None:
    page = browser.get(f"/portal/apps/{app.slug}/{path}", follow=True, **HTML).text
    side = page[
        page.index("</details>", page.index('id="side-nav"')) : page.index("<main")
    ]  # below the tile of the app
    assert len(re.findall("<li><a ", side)) == 9
    marked = [f"{name} {current}" for _, current, name in CURRENT.findall(side)]
    assert marked == [entry]
    assert marked_tabs(page) == ([tab] if tab else [])


def marked_tabs(page: str) -> list[str]:
    tabs = "".join(re.findall(r'<nav class="tabs" aria-label="(?!Whose).*?</nav>', page, re.DOTALL))
    return [f"{name} {current}" for _, current, name in CURRENT.findall(tabs)]


def test_page_shown_again_by_its_form_keeps_its_tabs(browser: Client, app: App, installation: Any) -> None:
    answer = browser.post(f"/portal/apps/{app.slug}/deliveries/resend/", {}, **HTML)
    assert answer.status_code == 422
    assert marked_tabs(answer.text) == ["Deliveries true"]


def test_only_the_owner_finds_what_deletes_the_app(app: App, dana: User) -> None:
    viewer = factories.developer("vera@example.com")
    factories.member(app, viewer, AppRole.VIEWER)
    url = f"/portal/apps/{app.slug}/credentials/"
    assert f"{app.slug}/delete/" in signed_in(dana).get(url, **HTML).text
    assert f"{app.slug}/delete/" not in signed_in(viewer).get(url, **HTML).text


def test_page_below_a_tab_leads_back_to_it(browser: Client, app: App, installation: Any) -> None:
    page = browser.get(f"/portal/apps/{app.slug}/webhooks/new/", **HTML).text
    assert f'<a href="/portal/apps/{app.slug}/webhooks/">Webhooks</a></li></ol>' in page

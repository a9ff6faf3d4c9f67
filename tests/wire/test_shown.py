"""No page shows a link, a form or a button that its reader's role may not use: a second place for the same thing
(a button beside a link, a search beside the navigation) asks the role as well.

Every link and button that is shown is used, and a 403 is a fault. Whose form has an error of another kind may be shown it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Final
from urllib.parse import urlencode, urlsplit

import pytest
from django.conf import settings
from django.urls import Resolver404, resolve

from accounts.enums import StoreRole
from accounts.models import User
from common.web.methods import methods_of
from marketplace.enums import AppRole
from tests import factories
from tests.by_hand import Page
from tests.pages_table import BUTTONS
from tests.wire.pages import PLATFORM, URLCONFS, Route, Subject
from tests.wire.sweep import Sweep
from tests.wire.visitors import Visitor

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(900)]

FORM: Final = "application/x-www-form-urlencoded"
VOID: Final = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "use", "wbr",
}  # fmt: skip
OF_APPS, OF_STORES = ("portal/", "search/"), ("merchant/", "marketplace/", "search/", "")
# Pages of one person: what they show doesn't depend on a role.
LEFT_OUT: Final = ("portal/device/", "portal/invitations/", "merchant/invitations/")
# What the search box finds by the beginning of a word, on both sides.
SEARCHES: Final = ("q=de", "q=me", "q=st", "q=cu", "q=pr", "q=or")


class Shown(Page):
    """A page without what `portal.css` hides from a viewer."""

    def __init__(self, url: str, html: str) -> None:
        self._stack: list[tuple[str, bool, bool, bool]] = []  # tag, viewing, in a form that changes, hidden
        super().__init__(url, 200, html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        _, viewing, changes, hidden = self._stack[-1] if self._stack else ("", False, False, False)
        viewing |= "viewing" in (given.get("class") or "").split()
        changes |= tag == "form" and given.get("method") == "post" and "data-computes" not in given
        hidden |= viewing and "data-changes" in given
        hidden |= viewing and changes and tag == "button" and given.get("type") != "button"
        if tag not in VOID:
            self._stack.append((tag, viewing, changes, hidden))
        if not hidden:
            super().handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        hidden = False
        while self._stack and tag in {each[0] for each in self._stack}:
            open_tag, _, _, hidden = self._stack.pop()
            if open_tag == tag:
                break
        if not hidden:
            super().handle_endtag(tag)


Use = tuple[str, str, str, str]  # method, URL, body, words


def uses(page: Page) -> Iterator[Use]:
    """What a reader may do on a page: follow a link, or press a button."""
    for words, url in page.links:
        yield "GET", url, "", words
    for button in page.buttons:
        own = [(button.name, button.value)] if button.name else []
        fields = urlencode([*button.form.fields, *own])
        if button.form.method == "post":
            yield "POST", button.action, fields, button.words
        else:
            yield "GET", f"{button.action.partition('?')[0]}?{fields}", "", button.words


def target_of(method: str, url: str) -> str:
    """The name of the route, empty for what isn't a page of the platform."""
    parts = urlsplit(url)
    if parts.netloc not in ("", urlsplit(settings.BASE_URL).netloc):
        return ""
    try:
        found = resolve(parts.path, URLCONFS[PLATFORM])
    except Resolver404:
        return ""
    return found.view_name if method in methods_of(found.func) else ""


def shown_pages(sweep: Sweep, below: tuple[str, ...]) -> Iterator[tuple[Route, Subject, str]]:
    queries = {"search/": SEARCHES}
    for route, subject in sweep:
        starts = any(
            route.form == each if each in ("", "search/") else route.form.startswith(each) for each in below
        )
        if route.host != PLATFORM or not starts or route.form.startswith(LEFT_OUT):
            continue
        if "GET" in methods_of(route.view) and route.name not in BUTTONS:
            for query in queries.get(route.form, ("",)):
                yield route, subject, query


def refused(sweep: Sweep, person: User, below: tuple[str, ...]) -> tuple[set[str], list[str]]:
    """The routes that were tried, and the links and buttons that the person is shown and may not use.

    A role is refused by the route. So the first link to each is followed, and the first button pressed, of those that begin with
    the same word: some may be used for one's own row only.
    """
    found, tried = [], set()
    for route, subject, query in shown_pages(sweep, below):
        subject = replace(subject, person=person, query=query)
        answer = sweep.ask(route, subject, "GET")
        if answer.status != 200 or not answer.is_page:
            continue
        page = Shown(sweep.url(route, subject.values), answer.body.decode())
        for method, url, body, words in uses(page):
            target = target_of(method, url)
            use = target, method, words.partition(" ")[0]
            if not target or target == route.name == "search" or use in tried:
                continue
            tried.add(use)
            path = urlsplit(url)._replace(scheme="", netloc="", fragment="").geturl()
            done = sweep.send(route, subject, method, path, body.encode(), CONTENT_TYPE=FORM)
            if done.status == 403:
                found.append(f"{words!r} on {route}?{query}: {method} {path}")
    return {target for target, _, _ in tried}, found


@contextmanager
def as_visitor(sweep: Sweep, person: User) -> Iterator[None]:
    """The person asks with a session of their own, for the time of a test."""
    known = person in sweep.visitors
    if not known:
        sweep.visitors[person] = Visitor(person)
    yield
    if not known:
        del sweep.visitors[person]


@pytest.fixture
def _unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("common.web.limits.PERSON_REQUESTS", 10**6)
    monkeypatch.setattr("developers.limits.CHANGES", 10**6)


@pytest.mark.usefixtures("_unlimited")
@pytest.mark.spec("Contract 11 Members", "No page shows a role what it may not use")
@pytest.mark.parametrize("role", [AppRole.DEVELOPER, AppRole.VIEWER])
def test_member_of_an_app_is_shown_what_they_may_use(sweep: Sweep, role: AppRole) -> None:
    person = factories.developer("max@example.com", name="Max")
    factories.member(sweep.cast.bell, person, role)
    with as_visitor(sweep, person):
        tried, found = refused(sweep, person, OF_APPS)
    assert not found, "\n".join(found)
    assert {"portal:deliveries", "portal:signature_checker", "portal:member_remove"} <= tried
    assert len(tried) > 30


@pytest.mark.usefixtures("_unlimited")
@pytest.mark.spec("Contract 11 Staff", "No page shows a role what it may not use")
@pytest.mark.parametrize("role", [StoreRole.MANAGER, StoreRole.ORDERS])
def test_staff_of_a_store_are_shown_what_they_may_use(sweep: Sweep, role: StoreRole) -> None:
    person = factories.merchant_without_store("max@example.com")
    factories.staff(sweep.cast.shop, person, role)
    with as_visitor(sweep, person):
        tried, found = refused(sweep, person, OF_STORES)
    assert not found, "\n".join(found)
    assert {"merchants:order", "merchants:orders_move", "merchants:reviews"} <= tried
    assert len(tried) > 15

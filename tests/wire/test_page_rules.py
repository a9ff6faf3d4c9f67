"""What holds for every page: a route that is added later is held to it without being named here."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import resolve

from common.web.forms.stamps import is_form_of_this_address
from common.web.methods import methods_of
from tests.by_hand import Page
from tests.pages_table import (
    ANY_LENGTH,
    ANYONE,
    AUTHOR,
    BUTTONS,
    BY_A_LINK,
    BY_KEY,
    FETCHED,
    NAMED_INSIDE,
    NO_SANDBOX,
    NO_TOKEN,
    NOT_SHOWN,
    NOTED,
    PAGES,
    PUBLIC,
    REVIEWER,
)  # fmt: skip
from tests.pages_table import (
    Page as Row,
)
from tests.wire.pages import STORES, Route, Subject
from tests.wire.sweep import A_MILLION, MILLION, Sweep, largest_limit

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

WRITES = re.compile(r'(?:INSERT INTO|UPDATE|DELETE FROM) "(?!accounts_session")')
SIGN_IN, OK, FORBIDDEN, ABSENT = 302, 200, 403, 404
OUTSIDERS = ("anonymous", "sam", "noor", "rae")  # a developer, a merchant and a reviewer
CONSENT = (
    "merchants:authorize"  # asks for a role in the store that is chosen: `tests/merchants/test_staff.py`
)
OF_SOMEBODY = ("portal/", "merchant/")
COUNTED = ("portal:", "merchants:", "admin:marketplace_submission_")
MOST, MOST_OF_AN_APP = 20, 15  # statements of a page
TYPED = re.compile(r'<textarea\b[^>]*>|<input\b(?=[^>]* type="(?:text|search|email|url|tel|password)")[^>]*>')
NO_TEXT = re.compile(r' (?:disabled|readonly)\b|inputmode="(?:numeric|decimal)"')
ASIDE = re.compile(r'SAVEPOINT|^UPDATE "accounts_session" SET "last_seen_at"')  # the latter once a minute


def pages(sweep: Sweep) -> Iterator[tuple[Route, Subject, Row]]:
    for route, subject in sweep:
        if row := PAGES.get(route.name):
            yield route, subject, row


def test_route_without_a_page_answers_get_with_405(sweep: Sweep) -> None:
    for route, subject, row in pages(sweep):
        if not row.reads:
            answer = sweep.ask(route, subject, "GET")
            sweep.expect(answer.status == 405, f"{answer.status} to GET: {route}")
    assert sweep.asked >= len(BUTTONS)


def test_form_of_another_site_is_refused(sweep: Sweep) -> None:
    for route, subject, row in pages(sweep):
        if row.writes and NO_TOKEN not in row.marks:
            forged = (
                {"HTTP_X_CSRFTOKEN": ""} if route.host != STORES else {"HTTP_SEC_FETCH_SITE": "cross-site"}
            )
            answer = sweep.ask(route, subject, "POST", **forged)
            reason = re.search(rb"form has expired|sent from another site", answer.body)
            sweep.expect(
                answer.status == 403 and reason is not None, f"{answer.status} to a forged POST: {route}"
            )
    assert sweep.asked > 100


def test_page_is_kept_by_no_cache_and_has_a_maximum(sweep: Sweep) -> None:
    for route, subject, row in pages(sweep):
        if not row.reads:
            continue
        with CaptureQueriesContext(connection) as queries:
            answer = sweep.ask(route, subject, "GET", A_MILLION)
        sweep.expect(
            answer.status < 400 or bool({NOT_SHOWN, PUBLIC} & set(row.marks)), f"{answer.status}: {route}"
        )
        sweep.expect("/login/?next" not in answer.headers.get("location", ""), f"not signed in: {route}")
        is_private = "no-store" in answer.headers.get("cache-control", "")
        sweep.expect(is_private or PUBLIC in row.marks, f"may be cached: {route} {route.name}")
        sweep.expect(largest_limit(queries) < MILLION, f"shows any number of rows: {route}")
        writes = [query["sql"][:80] for query in queries if WRITES.match(query["sql"])]
        sweep.expect(not writes or NOTED in row.marks, f"writes: {route} {writes}")
    assert sweep.asked > 100


@pytest.mark.spec("Contract 15 Doors", "Every text that people or apps send has a maximum")
def test_every_field_for_text_says_its_maximum(sweep: Sweep) -> None:
    """Those made by hand in a template and those that a form makes for its object, too. Values of apps' settings have one together."""
    for route, subject, row in pages(sweep):
        if not row.reads:
            continue
        for field in TYPED.findall(sweep.ask(route, subject, "GET").body.decode(errors="replace")):
            is_limited = "maxlength=" in field or NO_TEXT.search(field)
            sweep.expect(bool(is_limited) or ANY_LENGTH in row.marks, f"{field[:200]}: {route}")
    assert sweep.asked > 100


def test_link_leads_somewhere(sweep: Sweep) -> None:
    """An empty one is a variable that isn't there, such as one that another block of the template sets."""
    for route, subject, row in pages(sweep):
        if row.reads and row.name.startswith((*COUNTED, "accounts:")):
            answer = sweep.ask(route, subject, "GET")
            sweep.expect(b'href=""' not in answer.body, f"an empty link: {route}")
    assert sweep.asked > 100


def test_page_takes_few_statements(sweep: Sweep) -> None:
    """Counted at the second visit. A row that is read twice on an app's page belongs in its `InstalledApp`."""
    for route, subject in sweep:
        if "GET" not in methods_of(route.view) or not route.name.startswith(COUNTED):
            continue
        of_an_app = route.form.startswith("merchant/apps/%(installation_id)s/")
        others = sweep.cast.at_shop.values() if of_an_app else ()
        more = [
            replace(subject, person=sweep.cast.mary, values=subject.values | {"installation_id": each.pk})
            for each in others
        ]
        for each in (subject, *more):
            sweep.ask(route, each, "GET")
            with CaptureQueriesContext(connection) as queries:
                sweep.ask(route, each, "GET")
            asked = [query["sql"] for query in queries if not ASIDE.search(query["sql"])]
            most = MOST_OF_AN_APP if of_an_app else MOST
            sweep.expect(len(asked) <= most, f"{len(asked)} statements: {sweep.url(route, each.values)}")
            twice = [sql[:300] for sql, number in Counter(asked).items() if number > 1 and of_an_app]
            sweep.expect(not twice, f"the same statement twice: {sweep.url(route, each.values)} {twice}")
    assert sweep.asked > 200


@pytest.mark.spec("Contract 15 Doors", "A form that was sent after its session ended")
def test_what_was_sent_signed_out_leads_to_sign_in_and_then_to_a_page(sweep: Sweep) -> None:
    for route, subject, row in pages(sweep):
        if not row.writes or not row.name.startswith(COUNTED) or BY_A_LINK in row.marks:
            continue
        answer = sweep.ask(route, replace(subject, person=None), "POST")
        location = urlsplit(answer.headers.get("location", ""))
        after = parse_qs(location.query).get("next", [""])[0]
        is_page = after and "GET" in methods_of(resolve(urlsplit(after).path).func)
        sweep.expect(location.path == "/accounts/login/" and bool(is_page), f"leads to {after!r}: {route}")
    assert sweep.asked > 50


@pytest.mark.spec("Contract 0 Conventions", "404 for what is another tenant's")
@pytest.mark.spec("Contract 2 Developer API", "Another developer's app is a 404, in the portal too")
def test_what_is_another_ones_is_not_found(sweep: Sweep) -> None:
    cast = sweep.cast
    merchants = dict.fromkeys((cast.mary, cast.aiko), (cast.noor, cast.devi))
    strangers = {cast.devi: (cast.sam,)} | merchants  # Devi is the developer of the merchants' apps
    for route, subject, row in pages(sweep):
        if not route.parameters or not route.form.startswith(OF_SOMEBODY):
            continue
        if subject.person is None:  # of a browser, not of a person
            continue
        for method in {"GET", "POST"} & set(methods_of(route.view)):
            for person in strangers[subject.person]:
                answer = sweep.ask(route, replace(subject, person=person), method)
                sweep.expect(answer.status == 404, f"{answer.status} for {person}: {method} {route}")
        if not row.reads and not {NAMED_INSIDE, BY_A_LINK} & set(row.marks):
            answer = sweep.ask(route, subject, "POST")
            sweep.expect(answer.status != 404, f"isn't there for its owner: {route}")
    assert sweep.asked > 100


@pytest.mark.parametrize("index", range(len(OUTSIDERS)), ids=OUTSIDERS)
def test_page_is_there_for_its_people_only(sweep: Sweep, index: int) -> None:
    person = getattr(sweep.cast, OUTSIDERS[index], None)
    for route, subject, row in pages(sweep):
        if not row.reads or not row.name or row.name == CONSENT:
            continue
        due = answers_to_outsiders(route, row)[index]
        answer = sweep.ask(route, replace(subject, person=person), "GET")
        leads_to = answer.headers.get("location", "")
        status = SIGN_IN if "/login/?next" in leads_to else OK if answer.status < 400 else answer.status
        may_have_nothing = due == OK and {NOT_SHOWN, BY_KEY, FETCHED} & set(row.marks)
        is_right = status == due or (may_have_nothing and status != SIGN_IN)
        sweep.expect(bool(is_right), f"{answer.status} and not {due}: {route}")
    assert sweep.asked > 100


def answers_to_outsiders(route: Route, row: Row) -> tuple[int, ...]:
    """What a page answers to people whom it doesn't belong to. Rae, who reviews, has a test store."""
    if row.reads == ANYONE:
        return (OK, OK, OK, OK)
    if row.reads == REVIEWER:
        return (SIGN_IN, SIGN_IN, SIGN_IN, OK)
    if row.reads == AUTHOR:
        return (SIGN_IN, OK, FORBIDDEN, FORBIDDEN)
    if row.name.startswith("portal:"):
        return (SIGN_IN, ABSENT, FORBIDDEN, FORBIDDEN)
    if row.name.startswith(("account", "mfa_")):
        return (SIGN_IN, OK, OK, OK)
    if route.parameters:
        return (SIGN_IN, ABSENT, ABSENT, ABSENT)
    return (SIGN_IN, FORBIDDEN, OK, FORBIDDEN) if NO_SANDBOX in row.marks else (SIGN_IN, OK, OK, OK)


@pytest.mark.spec("Contract 15 Doors", "a form's stamp is good for its own address only")
def test_form_is_good_for_the_address_that_it_goes_to(sweep: Sweep) -> None:
    """Asked of what protects, so that no form acts; `test_templates.py` reads what these pages don't show."""
    for route, subject, row in pages(sweep):
        if not row.reads or not subject.person:
            continue
        answer = sweep.ask(route, subject, "GET")
        if not answer.is_page or route.host == STORES:
            continue
        page = Page(sweep.url(route, subject.values), answer.status, answer.body.decode())
        for form in page.forms:
            if form.method != "post":
                continue
            for to in {form.action, *(button.action for button in form.buttons)}:
                asked = RequestFactory().post(to, dict(form.fields))
                asked.user = subject.person
                sweep.expect(is_form_of_this_address(asked), f"refused at {to}: a form of {route}")
            elsewhere = RequestFactory().post("/merchant/staff/x/", dict(form.fields))
            elsewhere.user = subject.person
            sweep.expect(not is_form_of_this_address(elsewhere), f"good elsewhere: a form of {route}")
    assert sweep.asked > 100

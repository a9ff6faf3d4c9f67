"""The rules of every page: a route that is added later is held to it without being named here."""

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
from tests.wire.pages import ADMIN_OF_DJANGO, APIS, NOT_SHOWN, ONLY_POST, STORES, Route, Subject
from tests.wire.sweep import A_MILLION, MILLION, Sweep, largest_limit

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

# What a cache may keep: it is the same for everyone.
PUBLIC = {
    "",  # health, crawlers, unknown paths
    "home", "licenses", "mails", "no_server", "styleguide", "oauth:jwks", "oauth:metadata", "oauth:protected_resource", "llms", "llms_full",
    "sdks:node", "sdks:project", "sdks:python", "sdks:tarball", "sdks:wheel",
    "docs:changelog_feed", "docs:event_schema", "docs:guide_source", "docs:openapi",
    "merchants:picture", "merchants:store_picture", "merchants:store_thumbnail",
    "storefront:home", "storefront:product", "storefront:page",  # each shopper's cart is a page of its own
}  # fmt: skip
# For the person who has the link of a mail.
BY_A_LINK = {
    "portal:invitation", "portal:invitation_register", "merchants:invitation", "merchants:invitation_register",
}  # fmt: skip
# These prove by a secret who they are, or lead to the store's own host, and no cookie of theirs counts.
WITHOUT_A_TOKEN = {"oauth:token", "oauth:revoke", "inbox_receiver", ""}
# GET notes that a merchant has looked at the store. When a session was last seen, and the challenge of a passkey, are in the session.
NOTED = {"merchants:view_store"}
WRITES = re.compile(r'(?:INSERT INTO|UPDATE|DELETE FROM) "(?!accounts_session")')
# 404 for their owners too, since an empty form names no block, and no reviewer is there to read.
NAMED_BY_THE_FORM = {"merchants:add_block", "merchants:place_block", "portal:review_message"}
OF_SOMEBODY = ("portal/", "merchant/")
COUNTED = ("portal:", "merchants:", "admin:marketplace_submission_")
MOST, MOST_OF_AN_APP = 20, 15  # statements of a page
TYPED = re.compile(r'<textarea\b[^>]*>|<input\b(?=[^>]* type="(?:text|search|email|url|tel|password)")[^>]*>')
NO_TEXT = re.compile(r' (?:disabled|readonly)\b|inputmode="(?:numeric|decimal)"')
OF_APPS = {
    "merchants:embed_settings",
    "styleguide",
}  # values of an app's schema, and a page without a purpose
ASIDE = re.compile(r'SAVEPOINT|^UPDATE "accounts_session" SET "last_seen_at"')  # the latter once a minute


def pages(sweep: Sweep) -> Iterator[tuple[Route, Subject]]:
    for route, subject in sweep:
        if not route.name.startswith(APIS) and not ADMIN_OF_DJANGO.match(route.name):
            yield route, subject


def test_route_without_a_page_answers_get_with_405(sweep: Sweep) -> None:
    for route, subject in pages(sweep):
        if route.name in ONLY_POST:
            answer = sweep.ask(route, subject, "GET")
            sweep.expect(answer.status == 405, f"{answer.status} to GET: {route}")
    assert sweep.asked >= len(ONLY_POST)


def test_form_of_another_site_is_refused(sweep: Sweep) -> None:
    for route, subject in pages(sweep):
        if "POST" in methods_of(route.view) and route.name not in WITHOUT_A_TOKEN:
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
    for route, subject in pages(sweep):
        if "GET" not in methods_of(route.view) or route.name in ONLY_POST:
            continue
        with CaptureQueriesContext(connection) as queries:
            answer = sweep.ask(route, subject, "GET", A_MILLION)
        sweep.expect(
            answer.status < 400 or route.name in NOT_SHOWN or route.name in PUBLIC,
            f"{answer.status}: {route}",
        )
        sweep.expect("/login/?next" not in answer.headers.get("location", ""), f"not signed in: {route}")
        is_private = "no-store" in answer.headers.get("cache-control", "")
        sweep.expect(is_private or route.name in PUBLIC, f"may be cached: {route} {route.name}")
        sweep.expect(largest_limit(queries) < MILLION, f"shows any number of rows: {route}")
        writes = [query["sql"][:80] for query in queries if WRITES.match(query["sql"])]
        sweep.expect(not writes or route.name in NOTED, f"writes: {route} {writes}")
    assert sweep.asked > 100


@pytest.mark.spec("Contract 15 Doors", "Every text that people or apps send has a maximum")
def test_every_field_for_text_says_its_maximum(sweep: Sweep) -> None:
    """Those made by hand in a template and those that a form makes for its object, too. Values of apps' settings have one together."""
    for route, subject in pages(sweep):
        if "GET" not in methods_of(route.view) or route.name in ONLY_POST:
            continue
        for field in TYPED.findall(sweep.ask(route, subject, "GET").body.decode(errors="replace")):
            is_limited = "maxlength=" in field or NO_TEXT.search(field)
            sweep.expect(bool(is_limited) or route.name in OF_APPS, f"{field[:200]}: {route}")
    assert sweep.asked > 100


def test_link_leads_somewhere(sweep: Sweep) -> None:
    """An empty one is a variable that isn't there, such as one that another block of the template sets."""
    for route, subject in pages(sweep):
        if "GET" in methods_of(route.view) and route.name.startswith((*COUNTED, "accounts:")):
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
    for route, subject in pages(sweep):
        if "POST" not in methods_of(route.view) or not route.name.startswith(COUNTED):
            continue
        if route.name in BY_A_LINK:
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
    for route, subject in pages(sweep):
        if not route.parameters or not route.form.startswith(OF_SOMEBODY):
            continue
        for method in {"GET", "POST"} & set(methods_of(route.view)):
            for person in strangers[subject.person]:
                answer = sweep.ask(route, replace(subject, person=person), method)
                sweep.expect(answer.status == 404, f"{answer.status} for {person}: {method} {route}")
        if route.name in ONLY_POST - NAMED_BY_THE_FORM - BY_A_LINK:
            answer = sweep.ask(route, subject, "POST")
            sweep.expect(answer.status != 404, f"isn't there for its owner: {route}")
    assert sweep.asked > 100


@pytest.mark.spec("Contract 15 Doors", "a form's stamp is good for its own address only")
def test_form_is_good_for_the_address_that_it_goes_to(sweep: Sweep) -> None:
    """Asked of what protects, so that no form acts; `test_templates.py` reads what these pages don't show."""
    for route, subject in pages(sweep):
        if "GET" not in methods_of(route.view) or route.name in ONLY_POST or not subject.person:
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

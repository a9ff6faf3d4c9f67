"""With another name, the product's is nowhere in what an installation gives out (contract, section 16)."""

import re
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import override_settings

from accounts.models import Business, User
from common.web.methods import methods_of
from config.pages.mails import sample_mails
from developers.docs import guides
from tests.endpoints_table import ENDPOINTS
from tests.wire.pages import STORES, Route, Subject
from tests.wire.sweep import Sweep, rolled_back
from tests.wire.visitors import Answer

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(900)]

SPEC = "Contract 16 In your name, with your people"
NAME = "Acme Apps"
OLD = re.compile(rb"extension(?:\s|&nbsp;|&#160;|\xc2\xa0|%20|\+)+platform", re.IGNORECASE)
PACKAGES = "sdks:"  # files under /sdk/ keep their names
JSON = {"HTTP_ACCEPT": "application/json"}


def forget_documents() -> None:
    """What is made once from the settings, which don't change while a server runs."""
    for name, module in list(sys.modules.items()):
        if name.startswith(("developers.docs", "extensions.in_store", "config.pages")):
            for each in list(vars(module).values()):
                if clear := getattr(each, "cache_clear", None):
                    clear()


@pytest.fixture(scope="module")
def everything(django_db_setup: None, django_db_blocker: Any) -> Iterator[Sweep]:
    """The cast of all pages on a platform with another name."""
    named = override_settings(
        PLATFORM_NAME=NAME,
        MFA_TOTP_ISSUER=NAME,
        DEFAULT_FROM_EMAIL=f"{NAME} <no-reply@localhost>",
        DEBUG=True,
        ALLOW_LOCAL_DESTINATIONS=True,
        AUTH_RATE_LIMITS=False,
    )
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch, named, rolled_back():
        patch.setattr("common.processes.write_behind.WriteBehind.start", lambda self: None)
        forget_documents()
        yield Sweep()
    forget_documents()


def expect_new_name(sweep: Sweep, answer: Answer, about: object) -> None:
    for text in (answer.body, *(value.encode() for value in answer.headers.values())):
        if found := OLD.search(text):
            around = text[max(0, found.start() - 60) : found.end() + 60]
            sweep.expect(False, f"{about}: {around!r}")


def readable(sweep: Sweep) -> Iterator[tuple[Route, Subject]]:
    for route, subject in sweep:
        if "GET" in methods_of(route.view) and not route.name.startswith(PACKAGES):
            yield route, subject


@pytest.mark.spec(SPEC, "With another name, the product's is on no page, for any role")
def test_no_page_has_the_old_name(sweep: Sweep) -> None:
    cast, named = sweep.cast, 0
    for route, subject in readable(sweep):
        people: list[User | None] = [None, subject.person, cast.devi, cast.mary, cast.rae]
        for person in dict.fromkeys(people):
            if person in sweep.visitors:
                answer = sweep.ask(route, Subject(person, subject.values, subject.query), "GET")
                expect_new_name(sweep, answer, f"{route} for {person}")
                named += NAME.encode() in answer.body
    assert named > 300


@pytest.mark.spec(SPEC, "In the three languages of stores, too")
@pytest.mark.parametrize("language", ["en", "de", "fr"])
def test_no_page_of_a_store_has_the_old_name(sweep: Sweep, language: str) -> None:
    shop = sweep.cast.shop
    Business.objects.filter(pk=shop.pk).update(locale=language)
    for route, subject in readable(sweep):
        if route.host == STORES:
            expect_new_name(sweep, sweep.ask(route, subject, "GET"), route)
            missing = sweep.url(route, subject.values) + "nothing"
            expect_new_name(sweep, sweep.send(route, subject, "GET", missing), missing)
    Business.objects.filter(pk=shop.pk).update(locale=shop.locale)


@pytest.mark.spec(SPEC, "With another name, the product's is in no error")
def test_no_error_has_the_old_name(sweep: Sweep) -> None:
    for route, subject in sweep:
        for method in ("GET", "POST", "DELETE"):
            answer = sweep.ask(route, Subject(None, subject.values), method, **JSON)
            if not route.name.startswith(PACKAGES):
                expect_new_name(sweep, answer, f"{method} {route}")
    assert len(ENDPOINTS) < sweep.asked


@pytest.mark.spec(SPEC, "With another name, the product's is in no document or feed")
def test_no_document_has_the_old_name(sweep: Sweep) -> None:
    [home] = [(route, subject) for route, subject in sweep if route.name == "home"]
    paths = [f"/docs/guides/{slug}{ending}" for slug in guides.GUIDES for ending in ("/", ".md")]
    paths += ["/docs/openapi.json", "/docs/changelog/", "/llms.txt", "/llms-full.txt", "/docs/errors/"]
    for path in paths:
        answer = sweep.send(*home, "GET", path)
        sweep.expect(answer.status == 200, f"{answer.status}: {path}")
        expect_new_name(sweep, answer, path)
    assert NAME.encode() in sweep.send(*home, "GET", "/llms.txt").body
    assert f'"title": "{NAME}"'.encode() in sweep.send(*home, "GET", "/docs/openapi.json").body
    assert NAME.encode() in sweep.send(*home, "GET", "/.well-known/oauth-protected-resource").body


@pytest.mark.spec(SPEC, "With another name, the product's is in no mail")
def test_no_mail_has_the_old_name(sweep: Sweep) -> None:
    mails = sample_mails()
    for name, mail in mails.items():
        for text in (mail.subject, mail.from_email, mail.body, *(html for html, _ in mail.alternatives)):
            assert not OLD.search(str(text).encode()), name
    assert sum(NAME in str(mail.body) for mail in mails.values()) > 10

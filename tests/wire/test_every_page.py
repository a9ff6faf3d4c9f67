"""What no page of either host may do, whatever it is asked: fail. Through the WSGI application that servers run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlsplit

import pytest
from django.db import transaction
from django.test import override_settings

from common.web.errors import is_api_path
from common.web.methods import methods_of
from stores.addresses import store_url
from tests.by_hand import Form, Page
from tests.wire.pages import STORES, Route, Subject, routes, subject_of, subjects_of
from tests.wire.visitors import Answer, Visitor
from tools.screenshots import cast as everybody

pytestmark = pytest.mark.django_db

FORM = "application/x-www-form-urlencoded"
RULE = ("Contract 15 Doors", "A malformed date, NUL or number in a query is never a 500")
DATES = (
    "0001-01-01T00:00",
    "0002-11-25T10:00",
    "1969-12-31",
    "9999-12-31T23:59",
    "2026-13-45T10:00",
    "9999-12-31",
)
ODD = ("%ED%A0%80", "9" * 30, "-1", "1e999", "%D9%A1", "x" * 5_000)
PATHS = ("%ff", "9" * 30, "x" * 5_000, "-1", "%F0%9F%A5%90", "%2e%2e")
TEXTS = (
    "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"), "9" * 30, "-1", "1e999", "٠", "x" * 70_000, '{"a": "\\u0000"}',
    "[[[[", "0002-11-25T10:00", "9999-12-31T23:59", "http://[", "javascript:", "\x01\x02\x7f", "\u202e\u200b",
)  # fmt: skip
# Pages that have nothing to show to the person that asks here: a mail's link, what a device shows, or a page for others.
NOT_SHOWN = {
    "accounts:confirm_new_email", "account_reset_password_from_key", "merchants:listing_preview",
    "merchants:businesses", "merchants:business_add", "merchants:app_settings",
    "mfa_view_recovery_codes", "mfa_deactivate_totp", "mfa_remove_webauthn", "mfa_generate_recovery_codes",
}  # fmt: skip


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction that counts as none, as those around Django's tests."""
    block: Any = transaction.atomic()
    block._from_testcase = True
    with block:
        yield
        transaction.set_rollback(True)


class Sweep:
    """Asks for pages, and collects what failed."""

    def __init__(self) -> None:
        cast = everybody.seed("http://127.0.0.1:9")
        self.store = urlsplit(store_url(cast.store["shop"].slug))
        self.subjects = subjects_of(cast)
        self.visitors: dict[Any, Visitor] = {}
        self.asked = 0
        self.found: list[str] = []

    def __iter__(self) -> Iterator[tuple[Route, Subject]]:
        for route in routes():
            subject = subject_of(route, self.subjects)
            assert set(route.parameters) <= set(subject.values), (
                f"{route}: name something for {route.parameters}"
            )
            yield route, subject

    def ask(
        self, route: Route, subject: Subject, method: str, query: str = "", *args: Any, **headers: str
    ) -> Answer:
        query = "&".join(filter(None, (subject.query, query)))
        url = f"{self.url(route, subject.values)}?{query}"
        return self.send(route, subject, method, url, *args, **headers)

    def url(self, route: Route, values: dict[str, Any]) -> str:
        path = route.path(values)
        return f"{self.store.path}{path[1:]}" if route.host == STORES else path

    def send(
        self, route: Route, subject: Subject, method: str, url: str, *args: Any, **headers: str
    ) -> Answer:
        visitor = self.visitors.setdefault(subject.person, None) or Visitor(subject.person)
        self.visitors[subject.person] = visitor
        host = self.store.netloc if route.host == STORES else ""
        self.asked += 1
        with rolled_back():
            answer = visitor.ask(method, url, *args, host=host, **headers)
        about = f"{method} {url[:150]} {args} {headers}"[:400]
        self.expect(answer.status < 500, f"{answer.status}: {about}")
        self.expect("x-request-id" in answer.headers, f"no request id: {about}")
        return answer

    def expect(self, is_right: bool, message: str) -> None:
        if not is_right:
            self.found.append(message)


@pytest.fixture(scope="module")
def everything(django_db_setup: None, django_db_blocker: Any) -> Iterator[Sweep]:
    """One cast for all tests here, since each request is rolled back."""
    lenient = override_settings(DEBUG=True, ALLOW_LOCAL_DESTINATIONS=True, AUTH_RATE_LIMITS=False)
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch, lenient, rolled_back():
        patch.setattr("common.write_behind.WriteBehind.start", lambda self: None)
        yield Sweep()


@pytest.fixture
def sweep(everything: Sweep) -> Iterator[Sweep]:
    everything.asked, everything.found = 0, []
    yield everything
    print(f"{everything.asked} requests")
    assert not everything.found, "\n".join(everything.found)


def is_shown(route: Route) -> bool:
    return "GET" in methods_of(route.view) and not is_api_path("/" + route.form)


def forms_of(sweep: Sweep, route: Route, subject: Subject) -> list[Form]:
    answer = sweep.ask(route, subject, "GET")
    if not answer.is_page:
        return []
    return Page(sweep.url(route, subject.values), answer.status, answer.body.decode()).forms


@pytest.mark.spec(
    "Contract 15 Doors", "OPTIONS answers 204 with Allow on every page and call, before the view"
)
def test_options_of_every_route_names_its_methods(sweep: Sweep) -> None:
    for route, subject in sweep:
        answer = sweep.ask(route, subject, "OPTIONS")
        if not methods_of(route.view):  # what answers unknown paths
            sweep.expect(answer.status == 404, f"{answer.status}: {route}")
            continue
        sweep.expect((answer.status, answer.body) == (204, b""), f"{answer.status}: {route}")
        sweep.expect(
            answer.headers.get("allow") == ", ".join(methods_of(route.view)), f"{route}: {answer.headers}"
        )


@pytest.mark.spec("Contract 15 Doors", "charset changes nothing for queries, gzip;q=0 means no gzip")
def test_every_page_is_shown_whatever_the_headers_say(sweep: Sweep) -> None:
    odd = {
        "CONTENT_TYPE": "text/plain; charset=hex; x*=nonsense''y",
        "HTTP_ACCEPT_ENCODING": "br, gzip;q=0, *;q=0.5",
    }
    for route, subject in sweep:
        if not is_shown(route):
            continue
        answer = sweep.ask(route, subject, "GET", "x=%E2%82%AC%ff", **odd)
        sweep.expect("content-encoding" not in answer.headers, f"compressed: {route}")
        is_there = answer.status < 400 or not route.parameters or route.name in NOT_SHOWN
        sweep.expect(is_there or route.name.startswith("admin:"), f"{answer.status}: {route}")


@pytest.mark.spec(*RULE)
def test_odd_values_in_the_query_of_a_page_fail_nothing(sweep: Sweep) -> None:
    for route, subject in sweep:
        if not is_shown(route):
            continue
        answer = sweep.ask(route, subject, "GET", "x=a%00b")
        sweep.expect(answer.status in (400, 404), f"{answer.status} with NUL: {route}")
        names = sorted(
            {
                name
                for form in forms_of(sweep, route, subject)
                if form.method == "get"
                for name, _ in form.fields
            }
        )
        for name in names:
            for value in (*DATES, *ODD):
                sweep.ask(route, subject, "GET", f"{quote(name)}={value}")

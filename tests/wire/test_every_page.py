"""What no page of either host may do, whatever it is asked: fail. Through the WSGI application that servers run."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from django.db import transaction
from django.test import override_settings
from django.urls import resolve

from common.web.errors import is_api_path
from common.web.methods import methods_of
from stores.addresses import store_url
from tests.by_hand import Form, Page
from tests.wire.pages import STORES, URLCONFS, Route, Subject, routes, subject_of, subjects_of
from tests.wire.visitors import Answer, Visitor
from tools.screenshots import cast as everybody

# A minute; continuous integration runs what is not marked "all".
pytestmark = [pytest.mark.django_db, pytest.mark.slow]

FORM = "application/x-www-form-urlencoded"
RULE = ("Contract 15 Doors", "A malformed date, NUL or number in a query is never a 500")
DATES = (
    "0002-11-25T10:00",
    "9999-12-31",
    "9999-12-31T23:59",
    "1969-12-31",
    "0001-01-01T00:00",
    "2026-13-45T10:00",
)
ODD = ("9" * 30, "%ED%A0%80", "-1", "1e999", "%D9%A1", "x" * 5_000)
PATHS = ("9" * 30, "%ff", "x" * 5_000, "-1", "%F0%9F%A5%90", "%2e%2e")
TEXTS = (
    "9" * 30, "-1", "1e999", "٠", "x" * 70_000, '{"a": "\\u0000"}',
    "[[[[", "0002-11-25T10:00", "9999-12-31T23:59", "http://[", "javascript:", "\x01\x02\x7f", "\u202e\u200b",
)  # fmt: skip
# Pages that have nothing to show to the person that asks here: a mail's link, what a device shows, or a page for others.
NOT_SHOWN = {
    "accounts:confirm_new_email", "account_reset_password_from_key", "merchants:listing_preview", "merchants:kept_request",
    "merchants:businesses", "merchants:business_add", "merchants:app_settings",
    "mfa_view_recovery_codes", "mfa_deactivate_totp", "mfa_remove_webauthn", "mfa_generate_recovery_codes",
}  # fmt: skip


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction that counts as none, as those around Django's tests."""
    block: Any = transaction.atomic()
    block._from_testcase = True  # noqa: SLF001
    with block:
        yield
        transaction.set_rollback(True)


class Sweep:
    """Asks for pages, and collects what failed."""

    def __init__(self) -> None:
        cast = everybody.seed("http://127.0.0.1:9")
        self.store = urlsplit(store_url(cast.store["shop"].slug))
        self.subjects = subjects_of(cast)
        self.visitors = {
            person: Visitor(person) for person in {each.person for each in self.subjects.values()}
        }
        self.asked = 0
        self.found: list[str] = []

    def __iter__(self) -> Iterator[tuple[Route, Subject]]:
        for route in routes():
            subject = subject_of(route, self.subjects)
            assert set(route.parameters) <= set(subject.values), (
                f"{route}: name something for {route.parameters}"
            )
            found = resolve(route.path(subject.values), URLCONFS[route.host]).func
            assert found is route.view or not methods_of(route.view) or methods_of(found), (
                f"{route} isn't reached"
            )
            if found is route.view:  # not hidden by one of ours, as the sign-in page of Django's admin
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
        host = self.store.netloc if route.host == STORES else ""
        self.asked += 1
        with rolled_back():
            answer = self.visitors[subject.person].ask(method, url, *args, host=host, **headers)
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


def some_or_all(some: tuple[str, ...], everything: tuple[str, ...]) -> Any:
    slow = pytest.param(everything, marks=pytest.mark.slow, id="all")
    return pytest.mark.parametrize("values", [pytest.param(some, id="some"), slow])


def is_shown(route: Route) -> bool:
    return "GET" in methods_of(route.view) and not is_api_path("/" + route.form)


def forms_of(sweep: Sweep, route: Route, subject: Subject, answer: Answer) -> list[Form]:
    """The forms of a page that lead to a page of the same host."""
    if not answer.is_page or not answer.body:
        return []
    forms = Page(sweep.url(route, subject.values), answer.status, answer.body.decode()).forms
    for form in forms:
        form.action = form.action.partition("#")[0]
    return [form for form in forms if form.action.startswith("/")]


@pytest.mark.spec(
    "Contract 15 Doors", "OPTIONS answers 204 with Allow on every page and call, before the view"
)
def test_options_of_every_route_names_its_methods(sweep: Sweep) -> None:
    for route, subject in sweep:
        answer, methods = sweep.ask(route, subject, "OPTIONS"), methods_of(route.view)
        expected = (204, b"", ", ".join(methods)) if methods else (404, answer.body, None)
        given = answer.status, answer.body, answer.headers.get("allow")
        sweep.expect(given == expected, f"{given}: {route}")


@pytest.mark.spec("Contract 15 Doors", "charset changes nothing, gzip;q=0 means no gzip")
def test_every_page_and_form_is_read_whatever_its_headers_say(sweep: Sweep) -> None:
    odd = {
        "CONTENT_TYPE": "text/plain; charset=hex; x*=nonsense''y",
        "HTTP_ACCEPT_ENCODING": "br, gzip;q=0, *;q=0.5",
    }
    seen = set()
    for route, subject in sweep:
        if not is_shown(route):
            continue
        answer = sweep.ask(route, subject, "GET", "x=%E2%82%AC%ff", **odd)
        sweep.expect("content-encoding" not in answer.headers, f"compressed: {route}")
        is_there = answer.status < 400 or not route.parameters or route.name in NOT_SHOWN
        sweep.expect(is_there or route.name.startswith("admin:"), f"{answer.status}: {route}")
        leads_to = answer.headers.get("location", "")
        sweep.expect("/accounts/login/?next" not in leads_to, f"not signed in: {route}")
        for form in forms_of(sweep, route, subject, answer):
            if form.method == "post" and form.action not in seen:
                seen.add(form.action)
                in_latin1 = sweep.send(
                    route,
                    subject,
                    "POST",
                    form.action,
                    b"x=M\xfcsli",
                    CONTENT_TYPE=f"{FORM}; charset=ISO-8859-1",
                )
                sweep.expect(in_latin1.status == 415, f"{in_latin1.status} in Latin-1: {form.action}")
    assert len(seen) > 100


@pytest.mark.spec(*RULE)
@some_or_all((*DATES[:3], *ODD[:1]), (*DATES, *ODD))
def test_odd_values_in_the_query_of_a_page_fail_nothing(sweep: Sweep, values: tuple[str, ...]) -> None:
    for route, subject in sweep:
        if not is_shown(route):
            continue
        answer = sweep.ask(route, subject, "GET", "x=a%00b")
        sweep.expect(answer.status in (400, 404), f"{answer.status} with NUL: {route}")
        forms = forms_of(sweep, route, subject, sweep.ask(route, subject, "GET"))
        names = {name for form in forms if form.method == "get" for name, _ in form.fields}
        for name in sorted(names):
            for value in values:
                sweep.ask(route, subject, "GET", f"{quote(name)}={value}")


@pytest.mark.spec(*RULE)
@some_or_all(PATHS[:1], PATHS)
def test_odd_ids_in_the_path_of_a_page_fail_nothing(sweep: Sweep, values: tuple[str, ...]) -> None:
    for route, subject in sweep:
        for name in route.parameters:
            for value in values:
                url = sweep.url(
                    route, {key: quote(str(each)) for key, each in subject.values.items()} | {name: value}
                )
                sweep.send(route, subject, "GET" if is_shown(route) else "POST", url)


@pytest.mark.slow  # some 4,000 requests
@pytest.mark.timeout(1800)
@pytest.mark.spec(*RULE)
def test_odd_values_in_the_forms_of_a_page_fail_nothing(sweep: Sweep) -> None:
    seen = set()
    for route, subject in sweep:
        if not is_shown(route):
            continue
        for form in forms_of(sweep, route, subject, sweep.ask(route, subject, "GET")):
            names = tuple(dict.fromkeys(name for name, _ in form.fields if name != "csrfmiddlewaretoken"))
            if form.method != "post" or (form.action, names) in seen:
                continue
            seen.add((form.action, names))
            for name in names:
                for text in TEXTS:
                    body = urlencode(
                        [*((key, each) for key, each in form.fields if key != name), (name, text)]
                    )
                    answer = sweep.send(route, subject, "POST", form.action, body.encode(), CONTENT_TYPE=FORM)
                    sweep.expect(b"This form has expired" not in answer.body, f"no token: {form.action}")


@pytest.mark.slow  # some 2,000 requests
@pytest.mark.parametrize("method", ["HEAD", "PUT", "PATCH", "DELETE", "PROPFIND"])
def test_odd_method_fails_nothing(sweep: Sweep, method: str) -> None:
    for route, subject in sweep:
        answer = sweep.ask(route, subject, method)
        sweep.expect(method != "HEAD" or not answer.body, f"a body to HEAD: {route}")

"""What no page of either host may do, whatever it is asked: fail. Through the WSGI application that servers run."""

from typing import Any
from urllib.parse import quote, urlencode

import pytest
from django.contrib import admin
from django.db.models import DateField

from common.web.errors import is_api_path
from common.web.methods import methods_of
from tests.by_hand import Form, Page
from tests.pages_table import NOT_SHOWN, marked
from tests.wire.pages import Route, Subject
from tests.wire.sweep import Sweep
from tests.wire.visitors import Answer

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
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00%2B14:00",
)
ODD = ("9" * 30, "%ED%A0%80", "-1", "1e999", "%D9%A1", "x" * 5_000)
PATHS = ("9" * 30, "%ff", "x" * 5_000, "-1", "%F0%9F%A5%90", "%2e%2e")
TEXTS = (
    "9" * 30, "-1", "1e999", "٠", "x" * 70_000, '{"a": "\\u0000"}',
    "[[[[", "0002-11-25T10:00", "9999-12-31T23:59", "http://[", "javascript:", "\x01\x02\x7f", "\u202e\u200b",
)  # fmt: skip


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
        is_there = answer.status < 400 or not route.parameters or route.name in marked(NOT_SHOWN)
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
@some_or_all((*DATES[:3], DATES[-2], *ODD[:1]), (*DATES, *ODD))
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
def test_odd_dates_in_the_query_of_the_administration_fail_nothing(sweep: Sweep) -> None:
    """Django's lists accept each field of their rows as a filter, whether or not a form offers it."""
    lists = {f"admin:{m._meta.app_label}_{m._meta.model_name}_changelist": m for m in admin.site._registry}  # noqa: SLF001
    for route, subject in sweep:
        if (model := lists.get(route.name)) is None:
            continue
        for field in model._meta.get_fields():
            if isinstance(field, DateField):  # a `DateTimeField` is one, too
                for value in DATES[-2:]:
                    sweep.ask(route, subject, "GET", f"{field.name}__gte={value}")
                for year in ("0", "9999", "9" * 30):
                    sweep.ask(route, subject, "GET", f"{field.name}__year={year}")
    assert sweep.asked > 100


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

"""A database that is down, and connections that die in use: 503 with Retry-After on every path."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
from django.conf import settings as django_settings
from django.db import close_old_connections, connection
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from accounts.models import User
from common.web.errors import is_api_path
from installations.limits import REQUESTS_A_MINUTE
from installations.models import Installation
from stores.models import Order
from tests import factories
from tests.clients import client_of
from tests.pages import HTML
from tests.ports import free_port

SHAPE = ("Contract 0 Conventions", "503 with Retry-After while the database can't be reached")


def paths(patterns: Any = None, prefix: str = "/") -> Iterator[str]:
    """Every address of the site, with something for each parameter."""
    for pattern in patterns or get_resolver().url_patterns:
        route = prefix + str(pattern.pattern).lstrip("^")
        if isinstance(pattern, URLResolver):
            yield from paths(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and not re.search(r"[(?\\]", route):
            yield _filled(route)


def _filled(route: str) -> str:
    values = {"uuid": "018f0000-0000-7000-8000-000000000000", "int": "1"}
    return re.sub(r"<(?:(\w+):)?\w+>", lambda found: values.get(found[1] or "", "nothing"), route)


PATHS = sorted(set(paths()))


@contextmanager
def no_database() -> Iterator[None]:
    """Nothing listens at the configured address, and earlier connections are gone."""
    before = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(HOST="127.0.0.1", PORT=str(free_port()))
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)


@pytest.fixture
def away(django_db_blocker: Any) -> Iterator[None]:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite is a file")
    with django_db_blocker.unblock(), no_database():
        yield


def browser(**options: Any) -> Client:
    """One that has signed in, so far as it can know."""
    client = Client(raise_request_exception=False, **options)
    client.cookies[django_settings.SESSION_COOKIE_NAME] = "0123456789abcdefghijklmnopqrstuv"
    return client


def problem(answer: Any, path: str, *, page: bool) -> str | None:
    status = answer.status_code
    if status < 500:
        return None
    if status != 503:
        return f"{status}: {answer.content[:200]!r}"
    if answer.headers.get("Retry-After") != "5":
        return "503 without Retry-After"
    kind = "text/html; charset=utf-8" if page and not is_api_path(path) else "application/json"
    if answer.headers["Content-Type"] != kind:
        return f"503 as {answer.headers['Content-Type']}"
    if kind.startswith("text/html"):
        return None
    if answer.headers.get("X-Error-Code") != "database_unreachable":
        return f"503 with the code {answer.headers.get('X-Error-Code')}"
    return None if is_error_shape(answer) else f"wrong shape: {answer.content!r}"


def is_error_shape(answer: Any) -> bool:
    body = answer.json()
    if "statusCode" in body:
        return bool(body["statusCode"] == 503 and body["error"] == "Service Unavailable" and body["message"])
    return bool(body["error"] == "temporarily_unavailable")  # RFC 6749 section 5.2, at the token endpoint


@pytest.mark.postgres
@pytest.mark.spec(*SHAPE)
def test_no_app_is_sent_away_for_asking_often_while_the_database_is_away(away: None) -> None:
    """Without the database no token is known, and apps behind one network would share the limit of strangers."""
    client = Client(raise_request_exception=False, headers={"Authorization": "Bearer fbat_anything"})
    answers = {client.get("/app-api/products").status_code for _ in range(REQUESTS_A_MINUTE + 5)}
    assert answers == {503}


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.spec(*SHAPE)
@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize("headers", [HTML, {"Accept": "application/json"}], ids=["browser", "program"])
@pytest.mark.parametrize("method", ["get", "post"])
def test_no_path_fails_otherwise_while_the_database_is_away(
    away: None, method: str, headers: dict[str, str], debug: bool, settings: Any
) -> None:
    settings.DEBUG = debug
    token = {"Authorization": "Bearer fbat_anything", "X-Forwarded-For": "192.0.2.1"}
    found, answered_503 = {}, set()
    for path in PATHS:
        sent = headers | (token if is_api_path(path) else {})
        answer = getattr(browser(), method)(path, headers=sent)
        if answer.status_code == 503:
            answered_503.add(path)
        if wrong := problem(answer, path, page=headers == HTML):
            found[path] = wrong
    assert not found
    if method == "get":
        needed = {
            "/",
            "/marketplace/",
            "/portal/",
            "/merchant/",
            "/admin/",
            "/app-api/products",
            "/webhooks",
            "/readyz",
        }
        assert needed <= answered_503


@pytest.mark.postgres
@pytest.mark.spec("Contract 7 Pages", "/healthz says that the process lives")
def test_process_lives_and_is_not_ready_while_the_database_is_away(away: None, client: Client) -> None:
    assert client.get("/healthz").status_code == 200
    answer = client.get("/readyz")
    assert problem(answer, "/readyz", page=False) is None
    assert (answer.status_code, answer.json()["message"]) == (503, "Can't be reached right now: database.")


@pytest.mark.postgres
@pytest.mark.spec(*SHAPE)
@pytest.mark.django_db(transaction=True)
def test_service_goes_on_by_itself_when_the_database_is_back(installation: Installation, dana: User) -> None:
    api, page = client_of(installation), Client(headers=HTML, raise_request_exception=False)
    page.force_login(dana)
    assert (api.get("/app-api/products").status_code, page.get("/portal/").status_code) == (200, 200)
    with no_database():
        assert (api.get("/app-api/products").status_code, page.get("/portal/").status_code) == (503, 503)
    assert (api.get("/app-api/products").status_code, page.get("/portal/").status_code) == (200, 200)


@pytest.mark.postgres
@pytest.mark.spec(*SHAPE)
@pytest.mark.django_db(transaction=True)
def test_write_to_a_standby_is_a_503(client: Client) -> None:
    """As in the moments of a failover, when the address still leads to the old primary."""
    account = {"email": "eve@example.com", "password": factories.PASSWORD, "name": "Eve", "role": "DEVELOPER"}
    with connection.cursor() as cursor:
        cursor.execute("SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY")
    answer = client.post("/auth/register", account, content_type="application/json")
    assert answer.status_code == 503
    assert problem(answer, "/auth/register", page=False) is None
    close_old_connections()  # as a server does after each request
    assert client.post("/auth/register", account, content_type="application/json").status_code == 201


def end_connections() -> None:
    """As a restart of the server does, or an administrator."""
    at = connection.settings_dict
    options = {
        "host": at["HOST"],
        "port": at["PORT"] or 5432,
        "user": at["USER"],
        "password": at["PASSWORD"] or None,
    }
    with psycopg.connect(dbname="postgres", autocommit=True, **options) as session:
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [at["NAME"]]
        )


@contextmanager
def dying_after(number: int) -> Iterator[list[str]]:
    """The connection is ended before one more statement than this; yields those that were begun."""
    statements: list[str] = []

    def count(execute: Any, sql: str, *arguments: Any) -> Any:
        statements.append(sql)
        if len(statements) == number + 1:
            end_connections()
        return execute(sql, *arguments)

    with connection.execute_wrapper(count):
        yield statements
    connection.close_if_unusable_or_obsolete()  # what the beginning of a request does, outside of tests


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.spec(*SHAPE)
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("headers", [HTML, {"Accept": "application/json"}], ids=["browser", "program"])
@pytest.mark.parametrize("debug", [True, False])
def test_connection_that_dies_at_any_statement_of_signing_in_is_a_503(
    dana: User, headers: dict[str, str], debug: bool, settings: Any
) -> None:
    """The last of them save the session, which no view does but a middleware."""
    settings.DEBUG, settings.AUTH_RATE_LIMITS = debug, False
    form = {"email": "dana@example.com", "password": factories.PASSWORD}
    number, last = 0, None
    while last is None or last.status_code != 302:
        with dying_after(number):
            page = Client(headers=headers, raise_request_exception=False)
            last = page.post("/accounts/login/", form)
        assert last.status_code in (302, 503)
        assert problem(last, "/accounts/login/", page=headers == HTML) is None
        number += 1
    assert number > 4


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.spec(*SHAPE)
@pytest.mark.django_db(transaction=True)
def test_connection_that_dies_between_two_requests_fails_neither_for_long(
    installation: Installation, dana: User
) -> None:
    api, page = client_of(installation), Client(headers=HTML, raise_request_exception=False)
    page.force_login(dana)
    for caller, path in ((api, "/app-api/products"), (page, "/portal/")):
        assert caller.get(path).status_code == 200
        end_connections()
        assert caller.get(path).status_code in (200, 503)
        connection.close_if_unusable_or_obsolete()  # what the beginning of a request does, outside of tests
        assert caller.get(path).status_code == 200


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.spec(*SHAPE)
@pytest.mark.django_db(transaction=True)
def test_connection_that_dies_within_a_request_is_a_503_and_leaves_nothing_half_done(
    installation: Installation,
) -> None:
    """Before each of the statements of an order that is placed, until it is saved: after the COMMIT at most the answer is
    lost, for which there is the Idempotency-Key.
    """
    product = factories.product(installation.business, stock=5)
    body = {
        "items": [{"productId": str(product.pk), "quantity": 2}],
        "customer": {"name": "Kim", "phone": "+1 555 0100"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }
    api, number = client_of(installation), 0
    while not Order.objects.exists():
        with dying_after(number):
            answer = api.post("/app-api/orders", body, "application/json")
        if answer.status_code == 201:
            break
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "5"
        assert answer.json()["statusCode"] == 503
        number += 1
    product.refresh_from_db()
    assert (product.stock, Order.objects.count()) == (3, 1)
    assert number > 8

"""The log of API calls: what is kept of a call, of whom, and for how long."""

import json
from collections import Counter
from datetime import timedelta
from random import Random
from typing import Any
from uuid import UUID

import pytest
import time_machine
from django.db import OperationalError, connection
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from activity import log
from activity.log import Queue
from activity.models import ApiCall, DeprecatedUse, LogGap, ScopeUse, StoreScopeUse
from activity.services import writing
from activity.services.retention import remove_old
from installations.models import Installation
from installations.services.lifecycle import end_token, issue_token, uninstall
from stores.services.catalogue.products import delete_product
from tests import factories
from tests.clients import client_of
from tests.webhooks.helpers import drain, wait_for_feed
from tests.wire.traces import TRACE, TRACEPARENT
from webhooks.services import erasure


def logged(count: int = 1) -> list[ApiCall]:
    log.flush()
    calls = list(ApiCall.objects.order_by("id"))
    assert len(calls) == count
    return calls


@pytest.fixture
def api(installation: Installation) -> Client:
    return client_of(installation)


@pytest.fixture
def production(dana: User, shop: Business) -> Installation:
    """An app of Dana's on Mira's shop."""
    app = factories.app(dana)
    factories.approve(app)
    return factories.installation(app, shop)


def test_call_is_logged_with_its_request_id(api: Client, installation: Installation) -> None:
    factories.product(installation.business, name="Tea")
    answer = api.get("/app-api/products/?limit=5", headers={"traceparent": TRACEPARENT})
    (call,) = logged()
    assert call.id == UUID(answer["X-Request-Id"])
    assert call.trace_id == UUID(TRACE)
    assert (call.app_id, call.installation_id) == (installation.app_id, installation.pk)
    assert call.token_last_four == installation.raw_token[-4:]
    assert (call.method, call.route) == ("GET", "/app-api/products")
    assert call.path == "/app-api/products/?limit=5"
    assert (call.status, call.message, call.details) == (200, "", None)
    assert (call.rate_limit, call.rate_left) == (60, 59)
    assert call.rate_reset == int(answer["X-RateLimit-Reset"])
    assert (call.scope, call.has_scope) == ("read_products", True)
    assert '"Tea"' in call.response_body


@pytest.mark.parametrize(
    ("method", "path", "status", "route"),
    [
        ("get", "/app-api/orders/nothing", 404, "/app-api/orders/{order_id}"),
        ("get", "/app-api/orders?status=LOST", 400, "/app-api/orders"),
        ("get", "/app-api/nothing", 404, ""),
        ("delete", "/app-api/products", 405, "/app-api/products"),
        ("get", "/webhooks", 200, "/webhooks"),
        ("options", "/webhooks", 204, "/webhooks"),
        ("head", "/app-api/business", 200, "/app-api/business"),
    ],
)
def test_every_call_of_a_token_is_logged(
    api: Client, method: str, path: str, status: int, route: str
) -> None:
    answer = getattr(api, method)(path)
    (call,) = logged()
    assert (call.status, call.route) == (answer.status_code, route) == (status, route)
    assert call.message == (json.loads(answer.content)["message"] if status >= 400 else "")


@pytest.mark.long
def test_refused_calls_are_logged(
    api: Client, installation: Installation, dana: User, sandbox: Business, stopped_clock: None
) -> None:
    """403 without a scope, and 429; nothing of strangers."""
    app = factories.app(dana, scopes=["read_products"])
    poor = client_of(factories.installation(app, sandbox))
    assert poor.get("/app-api/orders").status_code == 403
    for _ in range(61):
        last = api.get("/app-api/installation")
    assert last.status_code == 429
    Client().get("/app-api/products")
    Client(headers={"Authorization": "Bearer fbat_" + "x" * 43}).get("/app-api/products")
    refused, *_, limited = logged(62)
    assert (refused.status, refused.scope, refused.has_scope) == (403, "read_orders", False)
    assert (limited.status, limited.rate_left) == (429, 0)


def test_ended_token_is_recognized(
    installation: Installation, production: Installation, dana: User, sandbox: Business
) -> None:
    """A replaced one, one that ended before the app was uninstalled, and one of a suspended app."""
    suspended = factories.installation(factories.app(dana, suspended_at=timezone.now()), sandbox)
    issue_token(installation=installation, now=timezone.now())
    end_token(installation=production, now=timezone.now())
    uninstall(installation=production)
    known = [installation, production, suspended]
    for each in known:
        assert client_of(each).get("/app-api/products").status_code == 401
    assert [(each.installation_id, each.status) for each in logged(3)] == [(each.pk, 401) for each in known]


PERSONAL = "kim@example.com"


def test_body_is_kept_of_test_installs_only(
    api: Client, production: Installation, installation: Installation
) -> None:
    body = {"url": "https://example.com/", "events": [PERSONAL]}
    for each in (installation, production):
        client_of(each).post(f"/webhooks?note={PERSONAL}", body, content_type="application/json")
    sandbox, real = logged(2)
    assert PERSONAL in sandbox.request_body
    assert PERSONAL in str(sandbox.details)
    assert "events[0]" in str(real.details)
    assert (real.request_body, real.response_body) == ("", "")
    assert PERSONAL not in real.path + real.message + str(real.details)


def test_secret_is_masked_before_the_body_is_cut(api: Client, installation: Installation) -> None:
    """Also one that lies across the end of what is kept, where a cut one would no longer be recognized."""
    filler = "x" * (4 * 1024 - len('{"description":"","url":"'))
    secret = "fbat_test_" + "S3cret" * 8
    body = {"description": filler[:-20], "url": secret, "events": [], "password": "Tr0ub4dor"}
    answer = api.post("/webhooks", json.dumps(body), content_type="application/json")
    (call,) = logged()
    assert answer.status_code == 400
    assert "S3cretS3" not in call.request_body
    assert "Tr0ub4dor" not in call.request_body
    assert len(call.request_body.encode()) <= 4 * 1024


def test_new_webhooks_secret_is_masked(api: Client) -> None:
    body = {"url": "https://example.com/x", "events": ["order.created"]}
    answer = api.post("/webhooks", body, content_type="application/json").json()
    (call,) = logged()
    assert answer["secret"] not in call.response_body
    assert f"whsec_test_…{answer['secret'][-4:]}" in call.response_body


def test_text_that_no_column_holds_is_logged(api: Client) -> None:
    api.get("/app-api/products?search=%00%ff", headers={"Idempotency-Key": "\x01" * 400})
    api.generic("X" * 40, "/app-api/products")
    assert [call.status for call in logged(2)] == [400, 405]


def test_off_switch(api: Client, settings: Any) -> None:
    settings.LOG_API_CALLS = False
    assert api.get("/app-api/products").status_code == 200
    assert logged(0) == []


# Scopes


@pytest.mark.long
def test_use_of_scopes_is_counted_exactly(dana: User, sandbox: Business, installation: Installation) -> None:
    random = Random(7)
    paths = {
        "/app-api/products": ("read_products", "GET /app-api/products"),
        "/app-api/products/slug/none": ("read_products", "GET /app-api/products/slug/{slug}"),
        "/app-api/orders": ("read_orders", "GET /app-api/orders"),
        "/app-api/reviews": ("read_reviews", "GET /app-api/reviews"),
        "/app-api/nothing": None,
        "/app-api/installation": None,
    }
    poor = factories.installation(factories.app(dana, scopes=["read_reviews"]), sandbox)
    expected: Counter[Any] = Counter()
    for _ in range(50):
        holder = random.choice([installation, poor])
        path, use = random.choice(list(paths.items()))
        status = client_of(holder).get(path).status_code
        if use and status not in (403, 429):
            expected[holder.app_id, *use] += 1
        if random.random() < 0.2:
            log.flush()
    log.flush()
    counted = ScopeUse.objects.values_list("app_id", "scope", "route", "count")
    assert Counter({(app, scope, route): count for app, scope, route, count in counted}) == expected


def test_feed_uses_the_scopes_of_its_events(transactional_db: None, api: Client, sandbox: Business) -> None:
    delete_product(product=factories.product(sandbox))
    wait_for_feed()
    assert [each["event"] for each in api.get("/app-api/events").json()["data"]] == ["product.deleted"]
    log.flush()
    assert list(ScopeUse.objects.values_list("scope", "route")) == [("read_products", "GET /app-api/events")]


# Overload


def test_full_queue_drops_and_says_so(
    api: Client, installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("activity.log._log.queue", Queue(most=3))
    for _ in range(5):
        assert api.get("/app-api/products").status_code == 200
    logged(3)
    gap = LogGap.objects.get()
    assert (gap.app_id, gap.count) == (installation.app_id, 2)
    assert gap.since <= gap.until
    assert ScopeUse.objects.get().count == 5
    assert log.flush() == 0
    assert LogGap.objects.count() == 1


def test_batch_waits_while_the_database_is_away(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise OperationalError("away")

    api.get("/app-api/products")
    with monkeypatch.context() as broken:
        broken.setattr(writing, "_insert", away)
        assert log.flush() == 0
    assert logged()[0].status == 200
    assert ScopeUse.objects.get().count == 1


@pytest.mark.postgres
def test_batch_waits_if_its_session_is_ended_in_the_middle(
    transactional_db: None, api: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    line, other = writing._line, connection.copy()  # noqa: SLF001

    def end_session(row: tuple[Any, ...]) -> str:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [connection.connection.info.backend_pid])
        return line(row)

    api.get("/app-api/products")
    with monkeypatch.context() as ended:
        ended.setattr(writing, "_line", end_session)
        assert log.flush() == 0
    connection.close()
    other.close()
    logged(1)


def test_batch_that_can_never_be_written_is_counted(
    api: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ValueError("unexpected")

    api.get("/app-api/products")
    with monkeypatch.context() as wrong:
        wrong.setattr(writing, "_insert", broken)
        log.flush()
    logged(0)
    assert LogGap.objects.get().count == 1
    assert "could not be logged" in caplog.text


# Time


def test_log_is_kept_seven_days_and_uses_thirty(api: Client) -> None:
    api.get("/app-api/products")
    logged()
    now = timezone.now()
    remove_old(now=now + timedelta(days=7))
    assert ApiCall.objects.exists()
    remove_old(now=now + timedelta(days=8))
    assert not ApiCall.objects.exists()
    assert ScopeUse.objects.exists()
    remove_old(now=now + timedelta(days=31))
    assert not ScopeUse.objects.exists()


def test_erasure_deletes_what_is_known_of_the_calls_of_its_installation(
    api: Client, installation: Installation, production: Installation
) -> None:
    now = timezone.now()
    for each in (installation, production):
        client_of(each).get("/app-api/products")
        DeprecatedUse.objects.create(
            app_id=each.app_id, installation=each, operation="GET /old", first_at=now, last_at=now, count=1
        )
    uninstall(installation=production)
    logged(2)
    assert StoreScopeUse.objects.count() == 2
    with time_machine.travel(timezone.now() + timedelta(hours=49)):
        drain()
        erasure.update_states()
    for model in (ApiCall, DeprecatedUse, StoreScopeUse):
        assert [row.installation_id for row in model.objects.all()] == [installation.pk], model

"""The portal's pages about the log of requests, in a browser without JavaScript."""

import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch
from uuid import UUID

import pytest
import requests
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from activity import log
from activity.models import ApiCall, DeprecatedUse, LogGap
from activity.services.retention import remove_old
from appapi.views.store import ProductList
from common.db import long_lists
from common.db.compiled import Compiled
from common.rest.deprecation import Deprecation
from developers.portal.requests.views import ROWS as PAGE
from extensions.models import HookCall
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import releases
from tests import factories
from tests.clients import client_of
from tests.extensions.settings import give_settings
from tests.pages import HTML, signed_in, words_of
from tests.receivers import Answer, Receiver
from tests.webhooks import helpers
from tests.wire.traces import TRACE, order_body
from webhooks.models import Delivery


@pytest.fixture
def production(dana: User, shop: Business) -> Installation:
    app = factories.app(dana)
    factories.approve(app)
    return factories.installation(app, shop)


def pages(app: App) -> str:
    return f"/portal/apps/{app.slug}"


def links(page: Any, part: str) -> list[str]:
    return re.findall(rf'href="([^"]*{part}[^"]*)"', page.content.decode())


def called(installation: Installation, path: str, **headers: str) -> ApiCall:
    answer = client_of(installation).get(path, headers=headers)
    log.flush()
    return ApiCall.objects.get(pk=UUID(answer["X-Request-Id"]))


@pytest.mark.long
def test_list_merges_calls_hooks_and_webhooks(
    transactional_db: None, browser: Client, hooking: Any, sandbox: Business
) -> None:
    """Each with a link to its page; filters are in the URL."""
    hooked = hooking("order.validate", {"valid": True}, business=sandbox)
    app, installation = hooked.app, hooked.installation
    helpers.webhook(installation, "https://127.0.0.1:9/in", ["order.created"])
    api = client_of(installation)
    placed = api.post(
        "/app-api/orders", order_body(factories.product(sandbox)), content_type="application/json"
    )
    api.get("/app-api/products?search=tea")
    log.flush()
    url = f"{pages(app)}/logs/"
    page = browser.get(url, **HTML)
    call, delivery = ApiCall.objects.get(pk=placed["X-Request-Id"]), Delivery.objects.get()
    shown = [f"{pages(app)}/requests/{call.pk}/", f"{pages(app)}/deliveries/{delivery.pk}/"]
    shown.append(f"{pages(app)}/hooks/order.validate/calls/{hooked.call.pk}/")
    for link in shown:
        assert links(page, link), link
        assert browser.get(link, **HTML).status_code == 200

    def found(**query: str) -> int:
        filtered = browser.get(url, query, **HTML)
        assert filtered.status_code == 200, query
        return len(re.findall(r'<th scope="row"', filtered.content.decode()))

    assert found() == 4
    assert [found(kind=kind) for kind in ("api", "hook", "webhook")] == [2, 1, 1]
    assert found(status="2xx", kind="api") == 2
    assert found(status="failed") == found(status="5xx") == 0
    assert found(endpoint="/app-api/products") == found(endpoint="order.validate") == 1
    assert found(endpoint="order.created") == found(q="search=TEA") == 1
    assert found(q=str(call.pk)) == 3
    assert found(installation=str(installation.pk)) == 4
    assert found(since="2020-01-01T00:00", until="2020-01-02T00:00") == 0
    assert found(range="1h") == 4
    assert browser.get(url, {"status": "LOST"}, **HTML).status_code == 422
    url = f"{pages(app)}/requests/"
    assert found() == found(status="2xx") == 2
    assert found(endpoint="/app-api/products") == 1
    assert browser.get(url, {"endpoint": "order.created"}, **HTML).status_code == 422
    moved = browser.get(url, {"kind": "hook", "range": "1h"}, **HTML)
    assert (moved.status_code, moved["Location"]) == (301, f"{pages(app)}/logs/?range=1h&kind=hook")


@pytest.mark.long
def test_pages_go_on_where_the_last_one_ended(
    browser: Client, app: App, installation: Installation, stopped_clock: None
) -> None:
    """Even for calls of the same microsecond; and the page counts newer ones."""
    for _ in range(PAGE + 5):
        client_of(installation).get("/app-api/installation")
    log.flush()
    url = f"{pages(app)}/requests/"
    first = browser.get(url, **HTML)
    (older,) = links(first, "before=")
    second = browser.get(url + older.replace("&amp;", "&"), **HTML)
    ids = [re.findall(r'requests/([0-9a-f-]{36})/"', page.content.decode()) for page in (first, second)]
    assert [len(each) for each in ids] == [PAGE, 5]
    assert len({*ids[0], *ids[1]}) == PAGE + 5
    (news,) = re.findall(r'data-news="([^"]*)"', first.content.decode())
    assert browser.get(news.replace("&amp;", "&")).json() == {"count": 0}
    with time_machine.travel(timezone.now() + timedelta(seconds=1)):
        client_of(installation).get("/app-api/products")
        log.flush()
        assert browser.get(news.replace("&amp;", "&")).json() == {"count": 1}


def test_no_more_rows_are_read_than_are_shown(browser: Client, app: App, installation: Installation) -> None:
    """However many kinds and hooks have a page of entries."""
    now = timezone.now()
    called_at = [now - timedelta(seconds=number) for number in range(PAGE + 10)]
    ApiCall.objects.bulk_create(
        ApiCall(at=at, app=app, installation=installation, method="GET", path="/app-api/products", status=200,
                duration_ms=9, rate_limit=60, rate_left=59, rate_reset=0)
        for at in called_at
    )  # fmt: skip
    hooks = [factories.hook(app, point) for point in ("order.validate", "checkout.shipping_rates")]
    HookCall.objects.bulk_create(
        HookCall(installation=installation, definition=each, hook_point=each.key, called_at=at, duration_ms=9,
                 outcome="ANSWERED")
        for each in hooks for at in called_at
    )  # fmt: skip
    with patch.object(Compiled, "rows", autospec=True, side_effect=Compiled.rows) as read:
        page = browser.get(f"{pages(app)}/logs/")
    assert len(links(page, "/requests/")) > 5
    assert sum(len(call.kwargs.get("ids", ())) for call in read.call_args_list) == PAGE


@pytest.mark.long
def test_errors_are_grouped_by_code_and_endpoint(
    browser: Client, app: App, installation: Installation
) -> None:
    """With a count by the hour, the documentation of the code, and the way to exactly these calls."""
    with time_machine.travel(timezone.now() - timedelta(hours=30)):
        client_of(installation).get("/app-api/orders/x")
    for at, path in (
        (3, "/app-api/products/x"),
        (1, "/app-api/products/y"),
        (0, "/app-api/products?limit=0"),
    ):
        with time_machine.travel(timezone.now() - timedelta(hours=at)):
            client_of(installation).get(path)
    client_of(installation).get("/app-api/products")
    log.flush()
    url = f"{pages(app)}/requests/"
    page = browser.get(url, **HTML).content.decode()
    section = page.partition('id="failures"')[2].partition("</table>")[0]
    rows = re.findall(r"<tr>(.*?)</tr>", section.partition("<tbody>")[2], re.DOTALL)
    assert len(rows) == 2
    assert "404" in rows[0]
    assert "/app-api/products/:productId" in rows[0] or "/app-api/products/" in rows[0]
    assert rows[0].count('<rect class="warn"') == 2
    (code,) = re.findall(r'href="/docs/errors/#(\w+)"', rows[0])
    assert f'id="{code}"' in browser.get("/docs/errors/").content.decode()
    (link,) = re.findall(r'href="(\?[^"]*)">2</a>', rows[0])
    listed = browser.get(url + link.replace("&amp;", "&"), **HTML).content.decode()
    assert len(re.findall(r'<th scope="row"', listed)) == 2
    assert 'id="failures"' not in listed


def test_call_is_shown_with_what_repeats_it(browser: Client, app: App, installation: Installation) -> None:
    product = factories.product(installation.business)
    client_of(installation).post(
        "/app-api/orders", order_body(product), content_type="application/json",
        headers={"Idempotency-Key": "cart-1"},
    )  # fmt: skip
    log.flush()
    call = ApiCall.objects.get()
    page = words_of(browser.get(f"{pages(app)}/requests/{call.pk}/", **HTML))
    assert "201 Created" in page
    assert f"Bearer fbat_test_…{installation.raw_token[-4:]}" in page
    assert installation.raw_token not in page
    assert "Authorization: Bearer YOUR_ACCESS_TOKEN" in page
    assert "Idempotency-Key: cart-1" in page
    assert "59 of 60 left" in page


def test_production_bodies_are_not_shown(browser: Client, production: Installation) -> None:
    call = called(production, "/app-api/products")
    page = words_of(browser.get(f"{pages(production.app)}/requests/{call.pk}/", **HTML))
    assert "Bodies are stored for test installs only." in page
    assert "YOUR_ACCESS_TOKEN" not in page


@pytest.mark.spec("Pages", "A developer sees nothing of another developer's requests")
def test_request_of_another_app_does_not_exist(sam: User, installation: Installation) -> None:
    call = called(installation, "/app-api/products")
    stranger = signed_in(sam)
    own = factories.app(sam)
    for path in (f"requests/{call.pk}/", f"threads/{call.pk}/", "requests/nonsense/", "threads/nonsense/"):
        assert stranger.get(f"{pages(own)}/{path}", **HTML).status_code == 404


# In words


def explained(browser: Client, call: ApiCall) -> str:
    return words_of(browser.get(f"{pages(call.app)}/requests/{call.pk}/", **HTML))


def test_explanation_goes_by_the_code_and_by_the_status_where_there_is_none(
    browser: Client, production: Installation
) -> None:
    Installation.objects.filter(pk=production.pk).update(paused_at=timezone.now())
    refused = called(production, "/app-api/products")
    page = browser.get(f"{pages(refused.app)}/requests/{refused.pk}/", **HTML)
    assert "has paused the app." in words_of(page)
    assert "X-Error-Code: app_paused" in words_of(page)
    assert links(page, "/docs/errors/#") == ["/docs/errors/#app_paused"]

    ApiCall.objects.filter(pk=refused.pk).update(error_code="")  # as the log was before
    page = browser.get(f"{pages(refused.app)}/requests/{refused.pk}/", **HTML)
    assert f"403: {refused.message}" in words_of(page)
    assert links(page, "/docs/errors/#") == ["/docs/errors/#status-403"]


@pytest.mark.long
def test_missing_scope_is_explained(browser: Client, dana: User, sandbox: Business, shop: Business) -> None:
    """By who has to act: the developer, a reviewer, or the store."""
    app = factories.app(dana, scopes=["read_products"], name="Stock list")
    factories.approve(app)
    there = factories.installation(app, shop)
    refused = called(there, "/app-api/orders")
    assert "403 because the token lacks read_orders. The app doesn't ask for it." in explained(
        browser, refused
    )
    App.objects.filter(pk=app.pk).update(scopes=["read_products", "read_orders"], version="2.0.0")
    assert "Your draft asks for it, and no approved version does." in explained(browser, refused)
    app.refresh_from_db()
    factories.approve(app)
    page = explained(browser, refused)
    assert "The app asks for it since version" in page
    assert f"and {shop.name} hasn't agreed." in page
    App.objects.filter(pk=app.pk).update(version="3.0.0", scopes=["read_products"])
    app.refresh_from_db()
    factories.approve(app)
    releases.take_back(app=app, by=dana)
    follow_all()
    assert "The app asks for it since version 2.0.0, and" in explained(browser, refused)
    Installation.objects.filter(pk=there.pk).update(granted_scopes=["read_products", "read_orders"])
    assert "The token has the scope now. Repeat the call." in explained(browser, refused)


@pytest.mark.long
def test_rate_limit_is_explained(
    browser: Client, app: App, installation: Installation, stopped_clock: None
) -> None:
    now = timezone.now()
    for number in range(61):
        with time_machine.travel(now + timedelta(milliseconds=number), tick=False):
            answer = client_of(installation).get("/app-api/products" if number < 58 else "/app-api/orders")
    log.flush()
    page = explained(browser, ApiCall.objects.get(pk=answer["X-Request-Id"]))
    assert "429: 60 of 60 requests of this minute were used." in page
    assert "GET /app-api/products 58 GET /app-api/orders 2" in page


def test_missing_part_of_the_log_is_said(browser: Client, app: App) -> None:
    now = timezone.now()
    LogGap.objects.create(app=app, since=now - timedelta(minutes=2), until=now, count=1204)
    assert "1,204 requests between" in words_of(browser.get(f"{pages(app)}/requests/", **HTML))


@pytest.mark.long
def test_deprecated_calls_are_shown_with_the_stores_that_make_them(
    browser: Client,
    production: Installation,
    sandbox: Business,
    sam: User,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = production.app
    on_sandbox = factories.installation(app, sandbox)
    called(production, "/app-api/products")  # not yet deprecated
    page = browser.get(f"{pages(app)}/requests/", **HTML)
    assert "Deprecated calls" not in words_of(page)

    ends = Deprecation(
        since=datetime(2026, 6, 1, tzinfo=UTC),
        end=datetime(2027, 6, 1, tzinfo=UTC),
        instead="Use `GET /app-api/goods`.",
    )
    monkeypatch.setattr(ProductList, "deprecations", {"GET": ends})
    other = factories.installation(factories.app(sam), Business.objects.sandbox_of(sam))
    for installation in (production, on_sandbox, production, other):
        assert called(installation, "/app-api/products?limit=1").status == 200
    called(production, "/app-api/orders")
    page = browser.get(f"{pages(app)}/requests/", **HTML)
    assert "GET /app-api/products Use GET /app-api/goods . 1 June 2027 2 stores" in words_of(page)
    assert re.search(rf"{re.escape(production.business.name)} 2 calls, last on ", words_of(page))
    assert re.search(rf"{re.escape(sandbox.name)} 1 call, last on .* 3 \d", words_of(page))
    assert "GET /app-api/orders Use" not in words_of(page)
    assert "Makes calls that will stop working" in words_of(browser.get(f"{pages(app)}/", **HTML))

    with time_machine.travel(timezone.now() + timedelta(days=31)):
        remove_old()
        assert not DeprecatedUse.objects.exists()


# Threads


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.mark.long
def test_one_order_is_one_thread(
    browser: Client,
    sam: User,
    hooking: Any,
    sandbox: Business,
    receiver: Receiver,
    live_server: Any,
    settings: Any,
) -> None:
    """An order by the API, two hooks, and an app that answers its webhook by a call with the `traceparent` it got. Each
    step's page leads to the thread with one press."""
    settings.ALLOWED_HOSTS = ["*"]
    first = hooking("order.validate", {"valid": True}, business=sandbox)
    second = hooking("order.calculate_discounts", {"discount": 0}, business=sandbox)
    helpers.webhook(first.installation, receiver.url, ["order.created"])
    listed = factories.app(sam)
    factories.approve(listed)
    stranger = factories.installation(listed, sandbox)
    helpers.webhook(stranger, receiver.url + "stranger", ["order.created"])

    def call_back(connection: socket.socket) -> None:
        traceparent = receiver.requests[-1].headers["traceparent"]
        token = f"Bearer {first.installation.raw_token}"
        headers = {"Authorization": token, "traceparent": traceparent}
        requests.get(f"{live_server.url}/app-api/orders", headers=headers, timeout=10)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    receiver.respond_with(Answer(script=call_back), 200)
    placed = client_of(first.installation).post(
        "/app-api/orders", order_body(factories.product(sandbox)), content_type="application/json"
    )
    assert placed.status_code == 201
    helpers.drain()
    log.flush()
    url = f"{pages(first.app)}/threads/{placed['X-Request-Id']}/"
    page = browser.get(url, **HTML)
    titles = re.findall(r'<p class="title">(.*?)</p>', page.content.decode())
    assert titles == [
        "API call: POST /app-api/orders",
        "Hook call: order.validate",
        "Hook call: order.calculate_discounts",
        "Event: order.created",
        "Webhook: order.created, attempt 1",
        "API call: GET /app-api/orders",
    ]
    delivery = Delivery.objects.get(webhook__installation=first.installation)
    back = ApiCall.objects.exclude(pk=placed["X-Request-Id"]).get()
    for own in (
        f"{pages(first.app)}/requests/{placed['X-Request-Id']}/",
        f"{pages(first.app)}/requests/{back.pk}/",
        f"{pages(first.app)}/deliveries/{delivery.pk}/",
        f"{pages(second.app)}/hooks/order.calculate_discounts/calls/{second.call.pk}/",
    ):
        (link,) = links(browser.get(own, **HTML), "/threads/")
        assert (
            re.findall(r'<p class="title">(.*?)</p>', browser.get(link, **HTML).content.decode()) == titles
        ), own
    theirs = signed_in(sam).get(f"{pages(stranger.app)}/threads/{placed['X-Request-Id']}/", **HTML)
    titles = re.findall(r'<p class="title">(.*?)</p>', theirs.content.decode())
    assert titles == [
        "A page or another app’s call", "Event: order.created", "Webhook: order.created, attempt 1",
    ]  # fmt: skip


@pytest.mark.spec(
    "Contract 23 What an order tells",
    "installation.updated is in no other app's log, on the developer's own sandbox either",
)
def test_thread_shows_what_the_store_changed_of_another_app_to_its_developer_alone(
    browser: Client, sam: User, app: App, installation: Installation, sandbox: Business
) -> None:
    listed = factories.app(sam)
    factories.approve(listed)
    stranger = factories.installation(listed, sandbox)
    schema = {"type": "object", "properties": {"heading": {"type": "string"}}}

    def titles(person: Client, of: App, changed: Installation) -> list[str]:
        """The thread of a press by the sandbox's owner."""
        give_settings(changed.app, schema)
        saved = browser.post(f"/merchant/apps/{changed.pk}/settings/", {"heading": "Tried"}, **HTML)
        assert saved.status_code == 302, saved.content
        page = person.get(f"{pages(of)}/threads/{saved['X-Request-Id']}/", **HTML)
        return re.findall(r'<p class="title">(.*?)</p>', page.content.decode())

    updated = "Event: installation.updated"
    assert updated in titles(browser, app, installation)
    assert titles(browser, app, stranger) == []


@pytest.mark.long
def test_thread_of_a_foreign_trace(browser: Client, app: App, installation: Installation) -> None:
    """Found by the trace that the app named, and by its calls."""
    traceparent = f"00-{TRACE}-00f067aa0ba902b7-01"
    one = called(installation, "/app-api/products", traceparent=traceparent)
    called(installation, "/app-api/orders", traceparent=traceparent)
    called(installation, "/app-api/orders")
    for thread_id in (UUID(TRACE), one.pk):
        page = browser.get(f"{pages(app)}/threads/{thread_id}/", **HTML).content.decode()
        assert page.count('<p class="title">API call') == 2


# Scopes


def test_events_of_many_webhooks_are_remembered_for_a_minute(
    browser: Client, dana: User, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = factories.app(dana, scopes=["read_products", "read_orders"], webhook_url="")
    installation = factories.installation(app, sandbox)
    heard = []
    for most in (10, 0, 0):  # rows that are read each time
        monkeypatch.setattr(long_lists, "COUNTED_EXACTLY", most)
        event = ("order.created", "product.created", "product.deleted")[len(heard)]
        helpers.webhook(installation, f"https://127.0.0.1:9/{event}", [event])
        words = words_of(browser.get(f"{pages(app)}/scopes/", **HTML))
        heard.append(
            [each for each in ("order.created", "product.created", "product.deleted") if each in words]
        )
    assert heard == [
        ["order.created"],
        ["order.created", "product.created"],
        ["order.created", "product.created"],
    ]


def test_unused_scopes_are_dropped_from_the_draft(browser: Client, dana: User, sandbox: Business) -> None:
    app = factories.app(dana, scopes=["read_products", "read_orders", "read_reviews"], webhook_url="")
    installation = factories.installation(app, sandbox)
    helpers.webhook(installation, "https://127.0.0.1:9/in", ["order.created"])
    called(installation, "/app-api/products")
    url = f"{pages(app)}/scopes/"
    page = browser.get(url, **HTML)
    assert "GET /app-api/products 1 call" in words_of(page)
    assert "Events of webhooks: order.created" in words_of(page)
    ticked = re.findall(r'value="(\w+)"[^>]* checked', page.content.decode())
    assert ticked == ["read_reviews"]
    browser.post(url, {"scope": ticked})
    app.refresh_from_db()
    assert app.scopes == ["read_products", "read_orders"]

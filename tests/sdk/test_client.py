"""The client, against a real HTTP server that answers what the test laid out."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.conf import settings
from extension_platform_sdk import ApiError, AppClient, OAuthClient, RateLimited, Unreachable
from extension_platform_sdk.cli import login


class Server:
    """Answers from a queue, the last one over and over, and records what was asked."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.answers: list[tuple[int, dict[str, str], Any]] = [(200, {}, {})]
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._http.daemon_threads = True
        self._http.script = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True).start()

    def will(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        self.answers.append((status, headers or {}, body))

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        script: Server = self.server.script  # type: ignore[attr-defined]
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        script.asked.append(
            {
                "call": f"{self.command} {url.path}",
                "query": {name: values[0] for name, values in parse_qs(url.query).items()},
                "body": json.loads(body) if body.startswith(b"{") else None,
                "headers": self.headers,
            }
        )
        if len(script.answers) > 1:
            script.answers.pop(0)
        status, headers, answer = script.answers[0]
        if not status:  # the connection is lost
            self.close_connection = True
            return
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if status != 204:
            self.wfile.write(answer if isinstance(answer, bytes) else json.dumps(answer).encode())

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()


@pytest.fixture
def client(server: Server) -> Iterator[AppClient]:
    with AppClient(server.url + "/", "fbat_test_abc", timeout=5) as client:
        yield client


@pytest.mark.spec("Authentication", "Header Authorization: Bearer <ACCESS_TOKEN>")
def test_token_is_sent_whatever_netrc_says(
    server: Server, client: AppClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login someone password else\n")
    monkeypatch.setenv("NETRC", str(netrc))
    client.installation()
    assert server.asked[0]["call"] == "GET /app-api/installation"
    assert server.asked[0]["headers"]["Authorization"] == "Bearer fbat_test_abc"


def test_call_that_follows_carries_the_trace_of_what_it_follows(server: Server, client: AppClient) -> None:
    traceparent = "00-01932d1c7a407cc39d6f0d2f4c1f8a01-00f067aa0ba902b7-01"
    client.following(traceparent).business()
    client.following(None).business()
    client.business()
    assert [each["headers"]["traceparent"] for each in server.asked] == [traceparent, None, None]


@pytest.mark.spec("Endpoints/App API", "Paths, methods and bodies of the app API and the webhook endpoints")
def test_calls(server: Server, client: AppClient) -> None:
    client.business()
    client.product("a/b")
    client.product_by_slug("green-tea")
    client.order("o")
    client.set_order_status("o", "CONFIRMED")
    client.create_webhook("https://app.example/w", ["order.created"])
    client.create_webhook("https://app.example/w", ("order.created",), "Orders")
    client.webhook("w")
    client.update_webhook("w", is_active=False)
    client.create_webhook("https://app.example/w", ["order.created"], filter={"changed": ["price"]})
    client.update_webhook("w", filter={"any": [{"field": "stock", "op": "exists"}]})
    client.update_webhook("w", filter=None)
    client.delete_webhook("w")
    client.test_webhook("w")
    webhook = {"url": "https://app.example/w", "events": ["order.created"]}
    assert [(asked["call"], asked["body"]) for asked in server.asked] == [
        ("GET /app-api/business", None),
        ("GET /app-api/products/a%2Fb", None),
        ("GET /app-api/products/slug/green-tea", None),
        ("GET /app-api/orders/o", None),
        ("PATCH /app-api/orders/o/status", {"status": "CONFIRMED"}),
        ("POST /webhooks", webhook),
        ("POST /webhooks", webhook | {"description": "Orders"}),
        ("GET /webhooks/w", None),
        ("PATCH /webhooks/w", {"isActive": False}),
        ("POST /webhooks", webhook | {"filter": {"changed": ["price"]}}),
        ("PATCH /webhooks/w", {"filter": {"any": [{"field": "stock", "op": "exists"}]}}),
        ("PATCH /webhooks/w", {"filter": None}),
        ("DELETE /webhooks/w", None),
        ("POST /webhooks/w/test", None),
    ]


@pytest.mark.spec("Endpoints/App API", "Payments, reviews, sales figures and pages by the SDK")
def test_calls_for_payments_reviews_figures_and_pages(server: Server, client: AppClient) -> None:
    client.settle_payment("o/1", "COMPLETED", reference="inv-1")
    client.settle_payment("o", "FAILED")
    client.review_stats()
    client.dashboard()
    client.dashboard(days=7)
    client.page_by_slug("about us")
    assert [(asked["call"], asked["query"], asked["body"]) for asked in server.asked] == [
        ("PATCH /app-api/orders/o%2F1/payment", {}, {"status": "COMPLETED", "reference": "inv-1"}),
        ("PATCH /app-api/orders/o/payment", {}, {"status": "FAILED"}),
        ("GET /app-api/reviews/stats", {}, None),
        ("GET /app-api/analytics/dashboard", {"days": "30"}, None),
        ("GET /app-api/analytics/dashboard", {"days": "7"}, None),
        ("GET /app-api/pages/about%20us", {}, None),
    ]


def test_payment_methods_are_one_list(server: Server, client: AppClient) -> None:
    methods = [{"id": "CASH", "name": "Cash", "description": None, "icon": None}]
    server.will(200, {"methods": methods})
    assert client.payment_methods() == methods
    assert server.asked[0]["call"] == "GET /app-api/payment-methods"


def test_lists_of_reviews_pages_and_deliveries(server: Server, client: AppClient) -> None:
    for _ in range(4):
        server.will(200, {"data": [{"id": "x"}], "total": 1, "page": 1, "limit": 10})
    assert client.reviews(product_id="p").data == [{"id": "x"}]
    assert list(client.iter_reviews()) == [{"id": "x"}]
    assert client.pages(page=2).total == 1
    assert client.deliveries("w/1", status="EXHAUSTED").data == [{"id": "x"}]
    assert [(asked["call"], asked["query"]) for asked in server.asked] == [
        ("GET /app-api/reviews", {"page": "1", "limit": "10", "productId": "p"}),
        ("GET /app-api/reviews", {"page": "1", "limit": "50"}),
        ("GET /app-api/pages", {"page": "2", "limit": "50"}),
        ("GET /webhooks/w%2F1/deliveries", {"page": "1", "limit": "50", "status": "EXHAUSTED"}),
    ]


def test_calls_for_what_an_endpoint_missed(server: Server, client: AppClient) -> None:
    client.delivery("w", "d")
    client.redeliver("w", "d")
    server.will(202, {"deliveries": 3})
    since = datetime(2026, 11, 20, tzinfo=UTC)
    assert client.recover("w", since=since) == 3
    assert client.recover("w", since=since, until=since) == 3
    start = "2026-11-20T00:00:00.000Z"
    assert [(asked["call"], asked["body"]) for asked in server.asked] == [
        ("GET /webhooks/w/deliveries/d", None),
        ("POST /webhooks/w/deliveries/d/redeliver", None),
        ("POST /webhooks/w/recover", {"since": start}),
        ("POST /webhooks/w/recover", {"since": start, "until": start}),
    ]


def test_order_is_created_with_its_key(server: Server, client: AppClient) -> None:
    server.will(201, {"orderNumber": "1042"})
    order = client.create_order(
        items=[{"productId": "p", "quantity": 2}],
        customer={"name": "Robin", "phone": "+1 555 0100"},
        delivery_method="DELIVERY",
        address="1 High Street",
        idempotency_key="key-1",
    )
    assert order == {"orderNumber": "1042"}
    assert server.asked[0]["headers"]["Idempotency-Key"] == "key-1"
    assert server.asked[0]["body"] == {
        "items": [{"productId": "p", "quantity": 2}],
        "customer": {"name": "Robin", "phone": "+1 555 0100"},
        "deliveryMethod": "DELIVERY",
        "paymentMethod": "CASH",
        "address": "1 High Street",
    }


@pytest.mark.spec("Endpoints/App API", "Paginated response shape: data, total, page, limit")
def test_page_and_filters(server: Server, client: AppClient) -> None:
    server.will(200, {"data": [{"id": "p"}], "total": 1, "page": 2, "limit": 10})
    since = datetime(2026, 11, 20, 15, 4, 5, 123456, UTC)
    page = client.products(
        page=2, limit=10, is_available=False, search="a&b", category=None, updated_since=since
    )
    assert (page.data, page.total, page.page, page.limit) == ([{"id": "p"}], 1, 2, 10)
    assert server.asked[0]["query"] == {
        "page": "2",
        "limit": "10",
        "isAvailable": "false",
        "search": "a&b",
        "updatedSince": "2026-11-20T15:04:05.123Z",
    }


@pytest.mark.parametrize("total", [0, 1, 2, 3, 5])
def test_iterating_asks_for_every_page_once(server: Server, client: AppClient, total: int) -> None:
    ids = list(range(total))
    for start in range(0, max(total, 1), 2):  # the platform lowers the limit to 2
        server.will(200, {"data": ids[start : start + 2], "total": total, "page": start // 2 + 1, "limit": 2})
    assert list(client.iter_orders(status="PENDING")) == ids
    assert [asked["query"]["page"] for asked in server.asked] == [
        str(page + 1) for page in range(max(1, (total + 1) // 2))
    ]
    assert {asked["query"]["status"] for asked in server.asked} == {"PENDING"}


def test_iterating_ends_when_the_list_shrinks(server: Server, client: AppClient) -> None:
    server.will(200, {"data": [1, 2], "total": 9, "page": 1, "limit": 2})
    server.will(200, {"data": [], "total": 9, "page": 2, "limit": 2})
    assert list(client.iter_products()) == [1, 2]


@pytest.mark.spec("Errors", "Error body: statusCode, message, error")
def test_error_answer(server: Server, client: AppClient) -> None:
    details = [{"field": "events[1]", "message": "unknown event"}]
    server.will(400, {"statusCode": 400, "message": "Invalid", "error": "Bad Request", "details": details})
    with pytest.raises(ApiError) as raised:
        client.create_webhook("https://app.example", ["order.created", "tea"])
    error = raised.value
    assert (error.status_code, error.message, error.error, error.details) == (
        400,
        "Invalid",
        "Bad Request",
        details,
    )
    assert str(error) == "400: Invalid"


@pytest.mark.parametrize("status", [404, 429])
def test_error_names_its_request(server: Server, client: AppClient, status: int) -> None:
    server.will(status, {"message": "no"}, {"X-Request-Id": "r-1", "X-Error-Code": "too_bad"})
    with pytest.raises(ApiError) as raised:
        client.installation()
    assert (raised.value.request_id, raised.value.code) == ("r-1", "too_bad")


@pytest.mark.spec(
    "Contract 14 For programs",
    "The 401s of /app-api and /webhooks have resource_metadata in WWW-Authenticate (RFC 9728)",
)
def test_refused_token_leads_to_the_authorization_server(live_server: Any) -> None:
    """As the platform itself refuses one, by way of two documents."""
    with AppClient(live_server.url, "fbat_of_nobody") as client, pytest.raises(ApiError) as raised:
        client.installation()
    assert raised.value.status_code == 401
    path = urlsplit(raised.value.resource_metadata or "").path
    (issuer,) = requests.get(live_server.url + path, timeout=10).json()["authorization_servers"]
    assert issuer == settings.BASE_URL


@pytest.mark.parametrize("body", [b"<h1>Bad Gateway</h1>", [], {"message": None}])
def test_error_answer_of_somebody_else(server: Server, client: AppClient, body: Any) -> None:
    server.will(502, body)
    with pytest.raises(ApiError) as raised:
        client.installation()
    assert (raised.value.status_code, raised.value.message, raised.value.details) == (502, "Bad Gateway", [])


@pytest.mark.parametrize("body", [b"hello", []])
def test_answer_that_is_no_record(server: Server, client: AppClient, body: Any) -> None:
    server.will(200, body)
    with pytest.raises(ApiError, match="not a JSON object"):
        client.installation()


def test_redirect_is_not_followed(server: Server, client: AppClient) -> None:
    server.will(302, {}, {"Location": "/elsewhere"})
    with pytest.raises(ApiError) as raised:
        client.installation()
    assert raised.value.status_code == 302
    assert len(server.asked) == 1


@pytest.mark.spec("Errors", "429 rate limit exceeded; includes header Retry-After")
def test_rate_limit(server: Server, client: AppClient) -> None:
    server.will(429, {"message": "Too many requests"}, {"Retry-After": "17"})
    with pytest.raises(RateLimited) as raised:
        client.installation()
    assert (raised.value.status_code, raised.value.retry_after) == (429, 17)
    assert len(server.asked) == 1


def test_rate_limit_is_waited_out_once_when_asked(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("extension_platform_sdk.transport.time.sleep", waits.append)
    with AppClient(server.url, "fbat_a", wait_on_rate_limit=True) as client:
        server.will(429, {}, {"Retry-After": "3"})
        server.will(200, {"installationId": "i"})
        assert client.installation() == {"installationId": "i"}
        assert waits == [3]
        server.will(429, {}, {"Retry-After": "4"})
        with pytest.raises(RateLimited):
            client.installation()
        assert waits == [3, 4]
        server.will(429, {})
        with pytest.raises(RateLimited) as raised:
            client.installation()
        assert raised.value.retry_after is None
        assert waits == [3, 4]


@pytest.mark.spec("Contract 18 Contract 1.0", "SDKs send keys by themselves when they retry")
def test_lost_answer_is_asked_for_under_one_key(
    server: Server, client: AppClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extension_platform_sdk.transport.time.sleep", lambda seconds: None)
    server.will(0, None)
    server.will(409, {}, {"X-Error-Code": "idempotency_key_in_progress"})
    server.will(200, {"id": "w"})
    assert client.update_webhook("w", is_active=True) == {"id": "w"}
    client.update_webhook("w", is_active=True)
    first, second, third, other = (each["headers"]["Idempotency-Key"] for each in server.asked)
    assert first == second == third != other
    client.business()
    assert "Idempotency-Key" not in server.asked[-1]["headers"]
    server.will(0, None)
    with pytest.raises(Unreachable):
        client.delete_webhook("w")
    assert len(server.asked) == 5 + 3
    with pytest.raises(Unreachable), AppClient(server.url, "fbat_a", retries=0) as once:
        once.delete_webhook("w")
    assert len(server.asked) == 5 + 3 + 1


def test_no_answer(server: Server) -> None:
    server.close()
    with AppClient(server.url, "fbat_secret") as client, pytest.raises(Unreachable) as raised:
        client.installation()
    assert server.url in str(raised.value)
    assert "fbat_secret" not in str(raised.value)


@pytest.mark.parametrize("around", ["{}\n", "\ufeff{}\r\n"])
def test_token_of_a_file_is_the_token(server: Server, around: str) -> None:
    with AppClient(server.url, around.format("fbat_secret")) as client:
        client.installation()
    assert server.asked[0]["headers"]["Authorization"] == "Bearer fbat_secret"


@pytest.mark.parametrize("text", ["“fbat_secret”", "fbat_secret\nA=1", "fbat_ secret"])
def test_text_that_is_no_token_is_in_no_traceback(text: str) -> None:
    """It would be in the log of a CI."""
    for make in (
        lambda: AppClient("https://platform.example", text),
        lambda: OAuthClient("https://platform.example", "id", text, redirect_uri="https://app.example/cb"),
    ):
        with pytest.raises(ValueError, match="has a space, a quotation mark or another") as raised:
            make()
        assert "secret" not in str(raised.value).replace("The client secret", "")


def test_proxies_are_for_other_machines(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server is the proxy, too: what is sent to one names the host."""
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    port = urlsplit(server.url).port
    with AppClient(f"http://127.0.0.1:{port}", "fbat_x") as client:
        assert client.installation() == {}
    oauth = OAuthClient(server.url, "id", "secret", redirect_uri="http://localhost/callback")
    with pytest.raises(ApiError, match="lacks an endpoint"):
        oauth.begin()
    assert login._post(f"{server.url}/oauth/device", {}) == {}  # noqa: SLF001
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, server.url)
    with AppClient("http://platform.example", "fbat_x") as client:
        assert client.installation() == {}
    assert server.asked[-1]["headers"]["Host"] == "platform.example"


def test_reconcile_reads_every_page_behind_a_cursor(server: Server, client: AppClient) -> None:
    first, second, third = ({"id": name, "cursor": name} for name in "abc")
    server.will(200, {"data": [first, second], "nextCursor": "b", "hasMore": True})
    server.will(200, {"data": [third], "nextCursor": "c", "hasMore": False})
    assert list(client.reconcile("start", only=["order.created"])) == [first, second, third]
    assert [(asked["call"], asked["query"]) for asked in server.asked] == [
        ("GET /app-api/events", {"after": after, "type": "order.created", "limit": "500"})
        for after in ("start", "b")
    ]


def test_place_in_the_feed_is_behind_what_was_handled(server: Server, client: AppClient) -> None:
    """The events that a loop ended at, or failed at, come again; without any event there is a place, too."""
    first, second = ({"id": name, "cursor": name} for name in "ab")
    server.will(200, {"data": [first, second], "nextCursor": "d", "hasMore": False})
    server.will(200, {"data": [], "nextCursor": "e", "hasMore": False})
    feed = client.reconcile()
    assert feed.next_cursor is None
    assert (next(feed), feed.next_cursor) == (first, None)
    assert (next(feed), feed.next_cursor) == (second, "a")
    assert (list(feed), feed.next_cursor) == ([], "d")
    empty = client.reconcile(feed.next_cursor)
    assert (list(empty), empty.next_cursor) == ([], "e")


def test_exports(server: Server, client: AppClient) -> None:
    client.create_export("products")
    client.export("e")
    assert [(asked["call"], asked["body"]) for asked in server.asked] == [
        ("POST /app-api/exports", {"resource": "products"}),
        ("GET /app-api/exports/e", None),
    ]

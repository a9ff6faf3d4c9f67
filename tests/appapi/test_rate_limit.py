"""The allowance of an installation, as its app sees it in the headers."""

from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from appapi.middleware import REQUESTS_A_MINUTE
from common.web import limits
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.clients import client_of

START = datetime(2026, 11, 20, 12, 0, 0, 500_000, tzinfo=UTC)
RESET = str(int(START.timestamp()) + 60)


def limit_of(response: Any) -> tuple[str, str, str]:
    return tuple(response.headers[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Reset"))


@pytest.mark.long
@pytest.mark.spec("Limits", "60 requests a minute per installation; the 61st is a 429 with Retry-After")
@pytest.mark.spec("Limits", "The rate headers count 59 to 0, and Reset stays the same within a window")
def test_allowance_used_up_refuses_the_61st(api: Client) -> None:
    with time_machine.travel(START, tick=False):
        answers = [api.get("/app-api/installation") for _ in range(REQUESTS_A_MINUTE)]
        refused = api.get("/app-api/installation")
    assert {answer.status_code for answer in answers} == {200}
    assert [limit_of(answer) for answer in answers] == [
        ("60", str(left), RESET) for left in range(59, -1, -1)
    ]
    assert refused.status_code == 429
    assert limit_of(refused) == ("60", "0", RESET)
    assert refused.headers["Retry-After"] == "60"
    assert refused.json()["statusCode"] == 429
    assert refused.json()["error"] == "Too Many Requests"


@pytest.mark.long
@pytest.mark.spec("Limits", "Retry-After agrees with Reset, and refused requests do not lengthen the window")
def test_window_ends_on_time_whatever_was_refused(api: Client) -> None:
    with time_machine.travel(START, tick=False) as clock:
        for _ in range(REQUESTS_A_MINUTE):
            api.get("/app-api/installation")
        clock.shift(timedelta(seconds=45))
        late = api.get("/app-api/installation")
        assert (late.status_code, late.headers["Retry-After"]) == (429, "15")
        assert limit_of(late) == ("60", "0", RESET)
        clock.shift(timedelta(seconds=15))
        again = api.get("/app-api/installation")
    assert again.status_code == 200
    assert limit_of(again) == ("60", "59", str(int(RESET) + 60))


@pytest.mark.spec("Limits", "One bucket per installation over /app-api and /webhooks together")
def test_both_roots_share_one_bucket(api: Client) -> None:
    answers = [
        api.get("/app-api/installation"),
        api.post("/webhooks", {}, content_type="application/json"),
        api.get("/app-api/products/nothing"),
        api.post("/webhooks/nothing/test"),
    ]
    assert [limit_of(answer)[1] for answer in answers] == ["59", "58", "57", "56"]


def test_installations_have_buckets_of_their_own(
    api: Client, second_app: App, installation: Installation
) -> None:
    other = client_of(factories.installation(second_app, installation.business))
    api.get("/app-api/installation")
    assert limit_of(other.get("/app-api/installation"))[1] == "59"


@pytest.mark.spec("Limits", "A request with no valid token is counted by client address")
@pytest.mark.usefixtures("stopped_clock")
def test_request_without_valid_token_is_counted_by_address(anonymous: Client, api: Client) -> None:
    wrong = {"Authorization": "Bearer fbat_wrong"}
    for _ in range(30):
        assert anonymous.get("/app-api/installation").status_code == 401
        assert anonymous.get("/app-api/installation", headers=wrong).status_code == 401
    refused = anonymous.get("/app-api/installation")
    assert (refused.status_code, limit_of(refused)[1]) == (429, "0")
    assert anonymous.get("/app-api/installation", headers=wrong).status_code == 429
    assert anonymous.get("/app-api/installation", REMOTE_ADDR="203.0.113.9").status_code == 401
    assert api.get("/app-api/installation").status_code == 200


def test_dead_token_is_counted_by_address(api: Client, installation: Installation, anonymous: Client) -> None:
    Installation.objects.filter(pk=installation.pk).update(token_digest=None, uninstalled_at=timezone.now())
    assert [limit_of(client.get("/app-api/orders"))[1] for client in (api, anonymous, api)] == [
        "59",
        "58",
        "57",
    ]


def test_forwarded_address_counts_only_behind_a_proxy(anonymous: Client, settings: Any) -> None:
    def left(forwarded: str) -> str:
        answer = anonymous.get("/app-api/installation", headers={"X-Forwarded-For": forwarded})
        return limit_of(answer)[1]

    assert [left("198.51.100.1"), left("198.51.100.2")] == ["59", "58"]
    settings.TRUSTED_PROXIES = (ip_network("127.0.0.1"),)
    assert [left("198.51.100.1"), left("198.51.100.2"), left("10.0.0.1, 198.51.100.1")] == ["59", "59", "58"]


def test_ipv6_callers_are_told_apart_by_network(anonymous: Client) -> None:
    def left(address: str) -> str:
        return limit_of(anonymous.get("/app-api/installation", REMOTE_ADDR=address))[1]

    assert [left("2001:db8::1"), left("2001:db8::ffff:1"), left("2001:db8:0:1::1")] == ["59", "58", "59"]
    assert [left("198.51.100.7"), left("::ffff:198.51.100.7"), left("")] == ["59", "58", "59"]


@pytest.mark.spec("Errors", "429 comes before 401, and 401 before 403")
@pytest.mark.usefixtures("stopped_clock")
def test_exhausted_installation_hears_429_before_403(api_with: Any) -> None:
    api = api_with("read_orders")
    for _ in range(REQUESTS_A_MINUTE):
        assert api.get("/app-api/products").status_code == 403
    assert api.get("/app-api/products").status_code == 429


@pytest.mark.spec("Limits", "Every response of /app-api and /webhooks has the rate headers, errors included")
@pytest.mark.parametrize(
    ("method", "path", "content_type", "body", "status"),
    [
        ("get", "/app-api", None, "", 404),
        ("get", "/app-api/", None, "", 404),
        ("get", "/app-api/nowhere/at/all", None, "", 404),
        ("post", "/webhooks/some/where", "application/json", "{}", 404),
        ("delete", "/app-api/products", None, "", 405),
        ("put", "/webhooks", "application/json", "{}", 405),
        ("post", "/webhooks", "application/json", "{", 400),
        ("post", "/webhooks", "text/plain", "hello", 415),
        ("post", "/webhooks", "application/json", '{"url": "%s"}' % ("a" * 1024 * 1024), 413),
        ("options", "/app-api/products", None, "", 204),
        ("head", "/app-api/products", None, "", 200),
    ],
)
def test_rate_headers_on_every_answer(
    api: Client, method: str, path: str, content_type: str | None, body: str, status: int
) -> None:
    answer = api.generic(method.upper(), path, body, content_type=content_type or "application/octet-stream")
    assert answer.status_code == status
    assert limit_of(answer)[:2] == ("60", "59")


def test_crash_answers_json_with_rate_headers(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*args: Any) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr("appapi.views.store.settings_of", crash)
    answer = api.get("/app-api/installation")
    assert answer.status_code == 500
    assert limit_of(answer)[:2] == ("60", "59")
    assert answer.json()["error"] == "Internal Server Error"
    assert "bug" not in answer.content.decode()


def test_crash_while_rendering_keeps_the_count(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("appapi.views.store.settings_of", lambda installation: object())
    answer = api.get("/app-api/installation")
    assert (answer.status_code, limit_of(answer)[1]) == (500, "59")


def test_unknown_host_is_a_400_with_rate_headers(api: Client) -> None:
    answer = api.get("/app-api/products", headers={"Host": "elsewhere.example"})
    assert (answer.status_code, limit_of(answer)[1]) == (400, "59")
    assert answer.json()["message"] == "Unknown host name."


def test_other_paths_have_no_rate_headers(anonymous: Client) -> None:
    assert "X-RateLimit-Limit" not in anonymous.get("/webhooks-of-mine").headers
    assert "X-RateLimit-Limit" not in anonymous.get("/").headers


@pytest.mark.redis
def test_cache_server_down_serves_everybody(api: Client, settings: Any) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    limits.counter.cache_clear()
    for _ in range(3):
        answer = api.get("/app-api/installation")
        assert (answer.status_code, limit_of(answer)[:2]) == (200, ("60", "59"))

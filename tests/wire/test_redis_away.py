"""A Redis that is gone, and one that accepts connections but never responds: requests succeed and don't wait long."""

import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from prometheus_client import REGISTRY

from accounts.models import User
from common.processes import redis_client as cache_server
from common.web import limits
from installations.models import Installation
from tests import factories
from tests.accounts.api import sign_in
from tests.clients import client_of
from tests.faults.servers import Redis
from tests.pages import signed_in
from tests.ports import free_port

pytestmark = pytest.mark.django_db


def use(settings: Any, url: str) -> None:
    """As if the process had been started with this `REDIS_URL`."""
    settings.REDIS_URL = url
    settings.CACHES = {
        "default": {"BACKEND": "common.processes.redis_client.Cache", "LOCATION": url, "KEY_PREFIX": "test"}
    }
    limits.counter.cache_clear()


@pytest.fixture(params=["nothing listens", "never answers"])
def away(request: pytest.FixtureRequest, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(cache_server, "TIMEOUT", 0.5)  # as in production
    if request.param == "nothing listens":
        use(settings, f"redis://127.0.0.1:{free_port()}/0")
        yield request.param
        return
    with socket.create_server(("127.0.0.1", 0)) as silent:
        use(settings, f"redis://127.0.0.1:{silent.getsockname()[1]}/0")
        yield request.param


def uncounted(limit: str) -> float:
    name = "extension_platform_rate_limit_failed_open_total"
    return REGISTRY.get_sample_value(name, {"limit": limit}) or 0.0


@pytest.mark.long
@pytest.mark.spec("Limits", "While the counter can't be reached, requests are let through")
def test_app_api_goes_on_and_waits_once(away: str, installation: Installation) -> None:
    api, before = client_of(installation), uncounted("app-api")
    took = []
    for _ in range(80):
        began = time.monotonic()
        answer = api.get("/app-api/products")
        took.append(time.monotonic() - began)
        assert (answer.status_code, answer["X-RateLimit-Limit"]) == (200, "60")
    assert uncounted("app-api") - before == 80
    assert took[0] < 2 * cache_server.TIMEOUT + 0.3, "One timeout, or one to connect and one to speak."
    late = [seconds for seconds in took[1:] if seconds > cache_server.TIMEOUT / 2]
    assert len(late) <= 1 + sum(took) / cache_server.PAUSE, "Tried again once in a while, by one request."


@pytest.mark.long
def test_signing_in_and_registering_go_on(away: str, client: Client, dana: User) -> None:
    before = uncounted("sign-in")
    for _ in range(12):
        assert sign_in(client, "dana@example.com").status_code == 200
    assert uncounted("sign-in") - before == 12
    page = client.post("/accounts/login/", {"email": "dana@example.com", "password": factories.PASSWORD})
    assert page.status_code == 302


@pytest.mark.long
@pytest.mark.parametrize("path", ["/", "/marketplace/", "/portal/", "/healthz", "/oauth/authorize"])
def test_pages_go_on(away: str, path: str, dana: User) -> None:
    assert signed_in(dana).get(path).status_code < 500


@pytest.mark.long
def test_code_exchange_is_answered(away: str, client: Client) -> None:
    body = {"grant_type": "authorization_code", "code": "nothing"}
    assert client.post("/oauth/token", body).status_code == 401


@pytest.mark.long
def test_readyz_names_the_cache(away: str, client: Client) -> None:
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["cache"]) == (200, "unavailable")
    answer = client.get("/readyz?strict")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert answer.json()["message"] == "Can't be reached right now: cache."


@pytest.mark.long
def test_counting_goes_on_when_the_server_is_back(
    settings: Any, monkeypatch: pytest.MonkeyPatch, installation: Installation
) -> None:
    monkeypatch.setattr(cache_server, "PAUSE", 0.2)
    api = client_of(installation)

    def left() -> str:
        return str(api.get("/app-api/installation")["X-RateLimit-Remaining"])

    with Redis() as server:
        use(settings, server.url)
        assert [left(), left()] == ["59", "58"]
        server.kill()
        assert [left(), left()] == ["59", "59"], "Uncounted."
        server.start()
        time.sleep(0.25)
        assert [left(), left()] == ["59", "58"]

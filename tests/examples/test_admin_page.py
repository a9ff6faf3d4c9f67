"""The sample app's admin page trusts the session token and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import requests

from .driver import SampleApp
from .stores import Store, install

ORDER = {
    "orderNumber": "1042", "status": "IN_DELIVERY", "amount": 24.5, "currency": "EUR",
    "payment": {"status": "COMPLETED"}, "createdAt": "2026-11-20T15:04:05.123Z", "items": [],
}  # fmt: skip


@pytest.fixture
def other(store: Store) -> Store:
    """The same app on a store of somebody else."""
    return Store(store.app, store.platform, install(store.platform))


@pytest.mark.spec(
    "Admin page iframe contract", "The app's server answers with the store of the session token only"
)
def test_merchant_sees_orders_webhooks_rings_and_rules_of_the_own_store(store: Store, other: Store) -> None:
    store.platform.orders = [ORDER | {"token": store.token}, ORDER | {"token": other.token}]
    for each, number in ((store, "1042"), (other, "77")):
        webhook = store.platform.webhook_of(each.token)
        store.platform.deliver(webhook, "order.created", {"orderNumber": number, "amount": 24.5})
    store.ring()

    shown = store.overview(store.session()).text
    for text in (
        '<p class="figure">1</p>',
        "<span>Order 1042 · 24.50 EUR</span><small>in delivery · payment completed · ",
        '<time datetime="2026-11-20T15:04:05.123Z">',
        "<span>Order 1042: 24.50 EUR</span><small>order.created · ",
        "Free delivery from 30.00 EUR.",
        "10% off from 3 pieces.",
    ):
        assert text in shown
    assert shown.count("Someone pressed the bell") == 1
    assert "Order 77" not in shown


def test_session_token_opens_the_stores_own_page(store: Store, other: Store) -> None:
    """With the buttons that only its merchant may press."""
    assert store.app.get(f"/stores/{store.installation}").status_code == 404
    assert "Uninstall" in store.enter()
    assert store.app.get(f"/stores/{other.installation}").status_code == 404
    for guess in ("", "guess", store.platform.session_token(store.token)):
        answer = requests.post(
            f"{store.app.url}/enter", data={"session": guess}, headers={"Origin": store.app.url}, timeout=5
        )
        assert answer.status_code == 401


def test_today_begins_at_midnight_of_the_store(store: Store) -> None:
    store.overview(store.session())
    (asked,) = (each for each in store.platform.orders_asked if "createdAfter" in each)
    midnight = datetime.now(ZoneInfo("Pacific/Auckland")).replace(hour=0, minute=0, second=0, microsecond=0)
    seconds = midnight.astimezone(UTC).timestamp() - datetime.fromisoformat(asked["createdAfter"]).timestamp()
    assert seconds == pytest.approx(0.001, abs=1e-5)


@pytest.mark.spec("Admin page iframe contract", "A forged session token is refused with 401")
@pytest.mark.parametrize(
    "forged",
    [
        {"secret": "whsec_test_guess"},
        {"alg": "none"},
        {"aud": "another-app"},
        {"exp": 1_700_000_000},  # long ago
        {"installationId": "unknown"},
        {"businessId": "another"},
    ],
    ids=str,
)
def test_forged_token_is_refused(store: Store, forged: dict[str, Any]) -> None:
    answer = store.let_in(store.platform.session_token(store.token, **forged))
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert "Harbour" not in answer.text


@pytest.mark.parametrize("token", ["", "a.b.c", "not a token"])
def test_what_is_no_token_is_refused(store: Store, token: str) -> None:
    assert store.let_in(token).status_code == 401


@pytest.mark.spec("Admin page iframe contract", "A forged businessId is refused with 401")
def test_forged_business_is_refused(store: Store, other: Store) -> None:
    good = store.platform.session_token(store.token)
    assert store.let_in(good, other.business_id).status_code == 401
    assert store.let_in(good, "").status_code == 401
    other_key = store.platform.installations[other.token]["webhookSecret"]
    names_mine = store.platform.session_token(store.token, secret=other_key)
    assert store.let_in(names_mine).status_code == 401
    assert store.overview(store.session()).status_code == 200
    for guess in ("guess", "", good):
        assert store.overview(guess).status_code == 401


def test_session_ends_with_the_installation(store: Store) -> None:
    session, page = store.session(), f"/stores/{store.installation}"
    store.enter()
    store.platform.installations.pop(store.token)
    store.app.get(page)  # where the app learns of it
    assert store.overview(session).status_code == 401


def test_platform_that_is_away_is_said_and_the_rest_is_shown(store: Store) -> None:
    session = store.session()
    store.platform.broken = True
    shown = store.overview(session).text
    assert '<p class="problem">The platform says: The database is away.</p>' in shown
    assert "Your rules at the checkout" in shown


@pytest.mark.long
def test_app_without_client_credentials_lets_nobody_in(
    start_app: Callable[..., SampleApp], store: Store, tmp_path: Path
) -> None:
    token = store.platform.install()
    store.platform.installations[token]["webhookSecret"] = "whsec_test_own"
    secret = {"WEBHOOK_SECRET": "whsec_test_own"}
    app = start_app(SAMPLE_APP_STATE=str(tmp_path / "other.sqlite3"), token=token, **secret)
    app.wait_until_connected()
    page = Store(app, store.platform, token)
    for aud in (store.platform.oauth.client_id, ""):
        assert page.let_in(store.platform.session_token(token, aud=aud)).status_code == 401

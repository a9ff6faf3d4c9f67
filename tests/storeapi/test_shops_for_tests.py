"""Stores of a connection for tests: what is installed there, and their clock (contract, section 17, "Connection")."""

import json
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import ConnectedStore, User
from accounts.services import shops
from common.times import parse_moment
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App, AppTotals
from stores.models import Payment
from tests import factories
from tests.clients import api_of, shop_client
from tests.installations.oauth_client import SECRET, code_for, exchange
from tests.merchants.pages import listed_app
from tests.pages import signed_in, words_of
from tests.receivers import Receiver
from tests.storeapi.people import person_in
from tests.storeapi.rows import MAIN, post, put
from tests.webhooks.helpers import drain
from webhooks.models import Attempt
from webhooks.tasks import follow_erasures

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as running:
        yield running


@pytest.fixture
def connected() -> shops.Connected:
    return shops.connect(name="Tryout", is_test=True)


@pytest.fixture
def dana() -> User:
    return factories.developer("dana@example.com")


@pytest.fixture
def bell(dana: User, receiver: Receiver) -> App:
    return listed_app(
        dana, ["read_orders"], name="Bell", client_secret=SECRET, slug="bell", webhook_url=receiver.url, webhook_events=["order.created"]
    )  # fmt: skip


def installed_by_its_owner(app: App, store: ConnectedStore) -> dict[str, Any]:
    """By the consent page, as in any store."""
    answer = exchange(app, code_for(person_in(store.business, StoreRole.OWNER), app))
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def advanced(shop: Client, **span: float) -> dict[str, Any]:
    answer = post(shop, "advance", seconds=int(timedelta(**span).total_seconds()))
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def test_install_of_a_listed_app_is_a_test_that_counts_nowhere(
    shop: Client, store: ConnectedStore, bell: App, dana: User
) -> None:
    api, figures = api_of(dana), f"/developer/apps/{bell.pk}/analytics"
    before, installs = api("get", figures).json(), installs_of(bell)
    assert shop.get(MAIN).json()["isSandbox"] is True
    record = installed_by_its_owner(bell, store)
    assert record["access_token"].startswith("fbat_test_")
    read = Client(headers={"authorization": f"Bearer {record['access_token']}"}).get("/app-api/installation")
    assert read.json()["isTestInstall"] is True
    assert (api("get", figures).json(), installs_of(bell)) == (before, installs)


def installs_of(app: App) -> int:
    return sum(AppTotals.objects.filter(app=app).values_list("installs", flat=True))


def test_install_follows_approved_versions_and_is_never_converted(
    shop: Client, store: ConnectedStore, bell: App
) -> None:
    installed_by_its_owner(bell, store)
    App.objects.filter(pk=bell.pk).update(name="Working copy", scopes=["read_orders", "read_reviews"])
    bell.refresh_from_db()
    owner = signed_in(person_in(store.business, StoreRole.OWNER))
    assert "Working copy" not in words_of(owner.get("/merchant/apps/"))
    version = factories.approve(bell, scope_reason="Reviews ring, too.")
    follow_all()
    installation = Installation.objects.get(app=bell)
    assert (installation.is_test, installation.runs) == (True, version)
    assert (installation.granted_scopes, installation.needs_reconsent) == (["read_orders"], True)
    assert "asks for more permissions" in words_of(owner.get("/merchant/apps/"))
    consented = owner.post(
        f"/merchant/apps/{installation.pk}/permissions/",
        {"answer": "approve", "version": str(version.number)},
    )
    assert consented.status_code == 302, consented.content
    installation.refresh_from_db()
    assert (installation.is_test, installation.needs_reconsent) == (True, False)
    assert "read_reviews" in installation.granted_scopes


def test_clock_moves_retries_by_their_schedule(
    shop: Client, store: ConnectedStore, bell: App, receiver: Receiver
) -> None:
    receiver.respond_with(500)
    installed_by_its_owner(bell, store)
    assert put(shop, "orders/o-1").json()["events"] == ["order.created"]
    drain()
    assert Attempt.objects.count() == 1
    before = timezone.now()
    moved = advanced(shop, hours=3)
    assert moved["became"] == {"deliveries": 1, "erasures": 0, "payments": 0}
    clock = parse_moment(moved["now"])
    assert clock
    assert timedelta(0) <= clock - before - timedelta(hours=3) < timedelta(minutes=1)
    while drain():
        pass
    due = list(Attempt.objects.order_by("number").values_list("due_at", flat=True))
    waits = [round((later - earlier).total_seconds()) for earlier, later in pairwise(due)]
    assert len(waits) >= 3
    again = advanced(shop, minutes=1)
    assert parse_moment(again["now"]) - clock >= timedelta(minutes=1)  # type: ignore[operator]


def test_clock_brings_a_customers_erasure_to_its_end(
    shop: Client, store: ConnectedStore, bell: App, receiver: Receiver
) -> None:
    receiver.respond_with(500)
    installed_by_its_owner(bell, store)
    put(shop, "orders/o-1", customer={"name": "Kim", "email": "kim@example.com", "phone": None})
    erasure = post(shop, "customers/erase", email="kim@example.com").json()["erasureId"]
    for _ in range(12):
        while drain():
            pass
        advanced(shop, days=1)
    follow_erasures()
    (asked,) = shop.get(f"{MAIN}/erasures/{erasure}").json()["apps"]
    assert asked["state"] == "FAILED"


def test_clock_expires_no_payment_of_a_row(shop: Client, store: ConnectedStore, bell: App) -> None:
    installed_by_its_owner(bell, store)
    soon = (timezone.now() + timedelta(minutes=1)).isoformat()
    put(shop, "orders/o-1", payment={"status": "PENDING", "expiresAt": soon})
    assert advanced(shop, hours=1)["became"]["payments"] == 0
    assert Payment.objects.get().status == "PENDING"


@pytest.mark.parametrize("seconds", [0, 604_801, 1.5, "60", None])
def test_clock_moves_by_a_second_to_a_week(shop: Client, store: ConnectedStore, seconds: object) -> None:
    assert post(shop, "advance", seconds=seconds).status_code == 400


def test_other_clocks_stay(shop: Client, store: ConnectedStore) -> None:
    live = shop_client(shops.connect(name="Northwind"))
    named = {"name": "Northwind", "currency": "USD"}
    assert live.put(MAIN, named, content_type="application/json").status_code == 201
    body = json.dumps({"seconds": 60})
    assert live.post(f"{MAIN}/advance", body, content_type="application/json").status_code == 404
    assert live.post(f"{MAIN}x/advance", body, content_type="application/json").status_code == 404
    advanced(shop, hours=1)
    assert set(ConnectedStore.objects.exclude(pk=store.pk).values_list("ahead", flat=True)) == {timedelta()}

"""What counts for the service's objectives."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.test import Client

from accounts.models import Business, User
from common.observability.objectives import OBJECTIVES
from installations import services as installing
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.clients import client_of
from tests.config.scraping import value
from tests.pages import signed_in
from tests.receivers import Receiver
from tests.storefront.shopping import Shopper
from tests.webhooks.helpers import drain, publish
from tests.webhooks.helpers import webhook as webhook_at
from webhooks.enums import ErasureState, Pace
from webhooks.models import Delivery, Endpoint, Erasure
from webhooks.services import erasure

NOW = datetime(2026, 11, 20, 12, 2, tzinfo=UTC)
EVENTS = "extension_platform_objective_events_total"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quick_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy this machine is."""
    monkeypatch.setattr("common.observability.metrics.perf_counter", lambda: 0.0)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


Counted = Callable[[], dict[str, tuple[int, int]]]


@pytest.fixture
def counted(operator: Client) -> Counted:
    """Of each objective what was good and what was bad since the test began."""

    def sums() -> dict[tuple[str, str], float]:
        sample = EVENTS + '{{objective="{}",outcome="{}"}}'
        kinds = [(each.name, outcome) for each in OBJECTIVES for outcome in ("good", "bad")]
        return {kind: value(operator, sample.format(*kind)) for kind in kinds}

    before = sums()

    def since() -> dict[str, tuple[int, int]]:
        now = sums()
        found = {
            each.name: (
                round(now[each.name, "good"] - before[each.name, "good"]),
                round(now[each.name, "bad"] - before[each.name, "bad"]),
            )
            for each in OBJECTIVES
        }
        return {name: both for name, both in found.items() if any(both)}

    return since


# What counts


def test_calls_of_the_app_api_count_unless_they_are_turned_away(
    counted: Counted,
    operator: Client,
    installation: Installation,
    clock: time_machine.Traveller,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = client_of(installation)
    app.raise_request_exception = False
    assert app.get("/app-api/installation").status_code == 200
    assert app.get("/app-api/products/nothing").status_code == 404
    assert Client().get("/app-api/installation").status_code == 401
    assert Client().get("/app-api/nothing").status_code == 404
    monkeypatch.setattr("appapi.views.store.settings_of", lambda *_: 1 / 0)
    assert app.get("/app-api/installation").status_code == 500
    assert counted() == {"api": (2, 1)}  # strangers can't make it look better


def test_slow_answers_are_bad(
    counted: Counted, installation: Installation, dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for took in (0.9, 1.1):
        ticks = iter((10.0, 10.0 + took))
        with monkeypatch.context() as slow:
            slow.setattr("common.observability.metrics.perf_counter", lambda ticks=ticks: next(ticks))
            client_of(installation).get("/app-api/installation")
    assert counted() == {"api": (1, 1)}


def test_pages_of_the_portal_count_and_its_forms_do_not(
    counted: Counted, app: App, dana: User, clock: time_machine.Traveller
) -> None:
    page = signed_in(dana)
    page.get(f"/portal/apps/{app.slug}/")
    page.post("/portal/apps/new/", {"name": ""})
    page.get("/merchant/")
    assert counted() == {"portal": (1, 0)}


@pytest.mark.django_db(transaction=True)
def test_checkout_is_its_page_and_an_order_by_the_api(
    counted: Counted,
    shop: Business,
    installation: Installation,
    clock: time_machine.Traveller,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bread = factories.product(shop, slug="bread", stock=10)
    shopper = Shopper(shop)
    shopper.take(bread)
    assert shopper.place().status_code == 302  # after the page
    assert client_of(installation).post("/app-api/orders", {}, "application/json").status_code == 400
    shopper.take(bread)
    shopper.raise_request_exception = False
    page = shopper.checkout_page()
    monkeypatch.setattr("stores.services.checkout.count_order", lambda *_: 1 / 0)
    assert shopper.place(page).status_code == 500
    assert counted() == {"checkout": (4, 1)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.timed
def test_first_attempts_are_good_in_time_whatever_is_answered(
    counted: Counted,
    installation: Installation,
    sandbox: Business,
    clock: time_machine.Traveller,
    receiver: Receiver,
) -> None:
    webhook_at(installation, receiver.url, ["order.created"])
    receiver.respond_with(500, 200)
    publish(sandbox)
    assert drain() == 1
    publish(sandbox)
    clock.shift(timedelta(seconds=6))
    assert drain() == 1
    assert counted() == {"first_attempts": (1, 1)}
    clock.shift(timedelta(seconds=40))  # a retry is none
    assert drain() == 1
    assert counted() == {"first_attempts": (1, 1)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.timed
@pytest.mark.parametrize(("pace", "counts"), [(Pace.PROVEN, True), (Pace.SLOW, False), (Pace.SILENT, False)])
def test_endpoints_that_hang_are_late_by_themselves(
    counted: Counted,
    installation: Installation,
    sandbox: Business,
    clock: time_machine.Traveller,
    receiver: Receiver,
    pace: Pace,
    counts: bool,
) -> None:
    webhook = webhook_at(installation, receiver.url, ["order.created"])
    Endpoint.objects.create(id=webhook.endpoint, pace=pace)
    publish(sandbox)
    clock.shift(timedelta(seconds=6))
    assert drain() == 1
    assert counted() == ({"first_attempts": (0, 1)} if counts else {})


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("status", "expected"), [(200, (1, 0)), (500, (0, 1)), (None, None)])
def test_erasures_are_good_once_the_app_confirms_them(
    counted: Counted,
    app: App,
    installation: Installation,
    clock: time_machine.Traveller,
    receiver: Receiver,
    status: int | None,
    expected: tuple[int, int] | None,
) -> None:
    """One that has no address counts as neither."""
    app.webhook_url = receiver.url if status else ""
    app.save()
    receiver.respond_with(status or 200)
    installing.uninstall(installation=installation)
    clock.shift(timedelta(hours=49))
    for _ in range(6):
        drain()
        erasure.update_states()
        Delivery.objects.filter(due_at__isnull=False).update(due_at=datetime.now(UTC))
    assert counted().get("erasures") == expected
    assert Erasure.objects.get().state not in (ErasureState.DUE, ErasureState.SENT)

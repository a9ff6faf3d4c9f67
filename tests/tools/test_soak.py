"""The soak's verdict: what it calls lost, doubled, or the fault of a slow machine."""

import json

import pytest
from django.db import connection
from django.utils import timezone

from installations.models import Installation
from installations.services.lifecycle import uninstall
from stores.models import Order
from stores.services.checkout import place_order
from tests import factories
from tests.webhooks import helpers
from tools.soak import verdict
from tools.soak.__main__ import judge
from tools.soak.faults import Window
from tools.soak.load import Install, Ledger, Placed
from tools.soak.receiver import Arrival
from tools.soak.verdict import Finding
from webhooks.models import Delivery


def install(business: str, *, since: float = 1.0, ended: float | None = None) -> Install:
    return Install(0, business, "", "", "", "", since, ended)


def arrival(event: str = "", order: str = "", *, delivery: str = "", at: float = 0.0) -> Arrival:
    body = json.dumps({"data": {"orderId": order}}).encode()
    return Arrival(0, delivery, "", event, "", "", body, at, 0.0)


def lost(ledger: Ledger, *arrivals: Arrival, cancelled: set[verdict.Told] | None = None) -> list[str]:
    """The events that the verdict names as lost."""
    found = {each.name: each for each in verdict.events(ledger, arrivals, cancelled or set())}
    assert not found["events lost"].by_speed
    return [
        event for event in ("order.created", "order.status_changed") if event in found["events lost"].problem
    ]


@pytest.mark.parametrize("ended", [None, 50.0], ids=["stayed", "ended"])
def test_event_that_did_not_arrive_is_lost_whether_or_not_the_app_stayed(ended: float | None) -> None:
    """The order, and then its status, were accepted while the app was installed."""
    ledger = Ledger(installs=[install("b", ended=ended)], placed=[Placed("o", "Kim 1", "b", 10, 11, 12)])
    assert lost(ledger) == ["order.created", "order.status_changed"]
    assert lost(ledger, arrival("order.created", "o")) == ["order.status_changed"]
    assert lost(ledger, arrival("order.created", "o"), arrival("order.status_changed", "o")) == []


@pytest.mark.parametrize(
    ("placed", "owed"),
    [
        (Placed("o", "Kim 1", "b", 0.5, 11, 12), []),
        (Placed("o", "Kim 1", "b", 10, 51, 52), []),
        (Placed("o", "Kim 1", "b", 10, 11, 51), ["order.created"]),
        (Placed("o", "Kim 1", "another", 10, 11, 12), []),
    ],
    ids=[
        "began before the install",
        "accepted after the uninstall began",
        "status after it",
        "of another store",
    ],
)
def test_only_what_was_accepted_during_an_install_is_owed(placed: Placed, owed: list[str]) -> None:
    assert lost(Ledger(installs=[install("b", ended=50.0)], placed=[placed])) == owed


@pytest.fixture
def order(installation: Installation) -> Order:
    """Dana's app has a delivery of it waiting."""
    helpers.webhook(installation, "https://app.example.com/", ["order.created"])
    bread = factories.product(installation.business)
    return place_order(business=installation.business, request=factories.order_request((bread, 1)))


def lost_of(order: Order, installation: Installation) -> list[str]:
    business = str(order.business_id)
    placed = Placed(str(order.pk), "Kim 1", business, began=10, accepted=11)
    ledger = Ledger(installs=[install(business, ended=50.0)], placed=[placed])
    numbers = {installation.app.client_id: 0}
    return lost(ledger, cancelled=verdict.cancelled_by_uninstalls(connection.connection, numbers))


@pytest.mark.postgres
@pytest.mark.django_db
def test_event_whose_delivery_the_uninstall_cancelled_is_not_lost(
    order: Order, installation: Installation
) -> None:
    uninstall(installation=installation)
    assert lost_of(order, installation) == []


@pytest.mark.postgres
@pytest.mark.django_db
def test_event_that_was_never_written_is_lost_although_the_app_is_uninstalled(
    order: Order, installation: Installation
) -> None:
    Delivery.objects.filter(event_type="order.created").delete()
    uninstall(installation=installation)
    assert lost_of(order, installation) == ["order.created"]


@pytest.mark.postgres
@pytest.mark.django_db
def test_event_that_was_cancelled_before_the_uninstall_is_lost(
    order: Order, installation: Installation
) -> None:
    Delivery.objects.update(status="CANCELLED", due_at=None, finished_at=timezone.now())
    uninstall(installation=installation)
    assert lost_of(order, installation) == ["order.created"]


# Doubles

ONE = "in flight"
KILLED = Window("worker1 is killed", began=100.0, ended=101.0, in_flight=frozenset({ONE}))
EMPTIED = Window("redis is emptied", began=100.0, ended=101.0)


@pytest.mark.parametrize(
    ("window", "delivery", "at", "explained"),
    [
        (KILLED, ONE, [99.0, 105.0], True),
        (KILLED, ONE, [80.0, 105.0], False),
        (KILLED, ONE, [98.0, 99.0], False),
        (KILLED, ONE, [99.0, 105.0, 130.0, 131.0], False),
        (KILLED, "another", [99.0, 105.0], False),
        (KILLED, "claimed since the look", [100.1, 105.0], True),
        (KILLED, "claimed after the fault", [103.0, 105.0], False),
        (EMPTIED, ONE, [99.0, 105.0], False),
        (EMPTIED, ONE, [100.1, 105.0], False),
    ],
)
def test_double_is_explained_by_a_fault_at_which_it_was_in_flight(
    window: Window, delivery: str, at: list[float], explained: bool
) -> None:
    arrivals = [arrival(delivery=delivery, at=moment) for moment in at]
    found = verdict.doubled([*arrivals, arrival(delivery="once", at=99.5)], [window])
    assert found.value.startswith(f"{len(at) - 1} of ")
    assert (found.problem == "") is explained
    assert not found.by_speed


# What fails a run

LOST = Finding("events lost", "1", "order.created")
SLOW = Finding("statements that waited", "1", "a line of the log", by_speed=True)


@pytest.mark.parametrize(
    ("found", "is_slow", "status"),
    [
        ([Finding("requests", "200: 12")], False, 0),
        ([LOST], False, 1),
        ([LOST], True, 1),
        ([SLOW], False, 1),
        ([SLOW], True, 0),
        ([SLOW, LOST], True, 1),
    ],
)
def test_what_a_slow_machine_may_cause_fails_only_where_it_is_not_one(
    found: list[Finding], is_slow: bool, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert judge(found, is_slow=is_slow) == status
    printed = capsys.readouterr().out
    assert all(each.problem in printed for each in found)

"""A shop is notified of the results of payments that apps made for its orders (contract, section 17, "Hooks")."""

import json
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, ConnectedStore, ShopSystem
from accounts.services import shops
from common.ids import new_id
from extensions.models import ShopCommand
from extensions.shops import telling
from extensions.shops.telling import tell_due
from extensions.tasks import tell_shops
from installations.models import Installation
from stores.connected.stores import open_store
from stores.enums import PaymentStatus
from stores.models import ShopPayment
from tests import factories
from tests.clients import client_of
from tests.hooking import Hooking
from tests.receivers import Answer, Receiver
from tests.storeapi.checkouts import pay, wallet
from tests.storeapi.commanded import outcomes, refusal
from tests.threads import at_once
from teststores.services import advance

pytestmark = pytest.mark.django_db(transaction=True)

DELAYS = (30, 120, 480, 1920, 7200)  # seconds, the schedule of deliveries


def to_tell(store: ConnectedStore, reader: Installation, number: str = "o-1", **values: Any) -> ShopPayment:
    """One that the app has settled just now."""
    now = timezone.now()
    settled = {
        "status": PaymentStatus.COMPLETED, "invoice_id": "inv-1", "reference": "charge-1",
        "command_id": uuid4(), "tell_since": now, "tell_at": now,
    }  # fmt: skip
    return ShopPayment.objects.create(
        business=store.business, order_id=new_id(), order_external_id=number, provider=str(reader.app_id),
        method="pay:wallet", amount=900, currency="USD", is_made=True, **settled | values,
    )  # fmt: skip


def ids(asked: Receiver) -> list[UUID]:
    return [UUID(each.headers["webhook-id"]) for each in asked.requests]


def test_shop_is_told(asked: Receiver, store: ConnectedStore, reader: Installation) -> None:
    payment = to_tell(store, reader)
    assert tell_due() == 1
    (request,) = asked.requests
    assert json.loads(request.body) == {
        "command": "payment.set_status",
        "commandId": str(payment.command_id),
        "store": "main",
        "businessId": str(store.pk),
        "appId": str(reader.app_id),
        "appName": reader.app_fields.name,
        "data": {"orderId": "o-1", "invoiceId": "inv-1", "status": "COMPLETED", "reference": "charge-1"},
    }
    assert ids(asked) == [payment.command_id]
    payment.refresh_from_db()
    assert (payment.tell_at, payment.tried_until) == (None, None)
    assert outcomes() == [("payment.set_status", "DONE")]
    assert ShopCommand.objects.get().order_id == payment.order_id
    tell_shops()
    assert len(asked.requests) == 1


def test_schedule_is_that_of_deliveries_and_then_hourly_for_a_day(
    asked: Receiver, store: ConnectedStore, reader: Installation
) -> None:
    asked.respond_with(503)
    payment, begun = to_tell(store, reader), timezone.now()
    now, waits = begun, []
    while True:
        assert tell_due(now=now) == 1
        payment.refresh_from_db()
        if payment.tell_at is None:
            break
        assert tell_due(now=payment.tell_at - timedelta(seconds=1)) == 0
        waits.append((payment.tell_at - now).total_seconds())
        now = payment.tell_at
    first, then = waits[: len(DELAYS)], waits[len(DELAYS) :]
    assert all(step <= wait <= step * 1.06 for step, wait in zip(DELAYS, first, strict=True)), first
    assert set(then) == {3600.0}
    assert timedelta(hours=23) < now - begun <= timedelta(days=1)
    assert len(set(ids(asked))) == 1
    assert {outcome for _, outcome in outcomes()} == {"UNREACHABLE"}


@pytest.mark.parametrize(
    ("answer", "is_heard"),
    [
        (Answer(body=b"<html>"), True), (Answer(status=409), True), (refusal(409, "Too late"), True),
        (refusal(404, "Unknown"), False), (refusal(422, "No"), False), (Answer(status=201), False),
        (Answer(status=302, headers={"Location": "/"}), False),
    ],
)  # fmt: skip
def test_two_statuses_end_it(
    asked: Receiver, store: ConnectedStore, reader: Installation, answer: Answer, is_heard: bool
) -> None:
    asked.respond_with(answer)
    payment = to_tell(store, reader)
    assert tell_due() == 1
    payment.refresh_from_db()
    assert (payment.tell_at is None) == is_heard
    assert payment.told_times == 1


def test_newest_status_alone_is_told(asked: Receiver, store: ConnectedStore, reader: Installation) -> None:
    """It changes while the one before is being sent."""
    payment, newest = to_tell(store, reader, status=PaymentStatus.EXPIRED), uuid4()

    def changes(connection: Any) -> None:
        now = timezone.now()
        ShopPayment.objects.filter(pk=payment.pk).update(
            status=PaymentStatus.COMPLETED, command_id=newest, tell_since=now, tell_at=now, told_times=0
        )
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    asked.respond_with(Answer(script=changes), Answer())
    tell_due()
    said = [(json.loads(each.body)["data"]["status"], each.headers["webhook-id"]) for each in asked.requests]
    assert said == [("EXPIRED", str(payment.command_id)), ("COMPLETED", str(newest))]
    payment.refresh_from_db()
    assert (payment.tell_at, payment.tried_until) == (None, None)


def test_two_runs_at_once_tell_it_once(asked: Receiver, store: ConnectedStore, reader: Installation) -> None:
    payments = [to_tell(store, reader, f"o-{number}") for number in range(6)]
    asked.respond_with(Answer(delay=0.3))
    at_once(*[tell_due] * 4)
    assert sorted(ids(asked)) == sorted(each.command_id for each in payments if each.command_id)


def test_shop_that_hangs_leaves_others_their_turn(
    asked: Receiver, store: ConnectedStore, reader: Installation
) -> None:
    other = shops.connect(name="Contoso")
    ShopSystem.objects.filter(pk=other.system.pk).update(commands_url=f"{asked.url}other")
    values = {"name": "Contoso", "currency": "USD"}
    second = open_store(system=other.system, external_id="main", values=values)
    theirs = factories.installation(reader.app, second.business)
    for number in range(telling.AT_ONCE):
        to_tell(store, reader, f"o-{number}", tell_at=timezone.now() - timedelta(hours=1))
    to_tell(second, theirs)
    asked.respond_with(500)
    tell_due(now=timezone.now())
    targets = [each.target for each in asked.requests]
    assert (targets.count("/commands"), targets.count("/other")) == (telling.OF_ONE_SHOP, 1)


def test_shop_without_commands_is_not_told(
    asked: Receiver, store: ConnectedStore, reader: Installation
) -> None:
    """They were taken away after the change."""
    payment = to_tell(store, reader)
    ShopSystem.objects.update(commands_url="")
    assert tell_due() == 0
    payment.refresh_from_db()
    assert (payment.tell_at, asked.requests) == (None, [])


def test_store_that_is_ending_is_not_told(
    asked: Receiver, store: ConnectedStore, reader: Installation
) -> None:
    to_tell(store, reader)
    ConnectedStore.objects.update(ending_since=timezone.now())
    assert tell_due() == 0
    assert asked.requests == []


def test_app_that_has_left_is_named_still(
    asked: Receiver, store: ConnectedStore, reader: Installation
) -> None:
    to_tell(store, reader)
    Installation.objects.filter(pk=reader.pk).update(uninstalled_at=timezone.now())
    assert tell_due() == 1
    assert json.loads(asked.requests[0].body)["appId"] == str(reader.app_id)


def test_clock_of_a_store_for_tests_moves_it(
    asked: Receiver, store: ConnectedStore, reader: Installation
) -> None:
    ShopSystem.objects.update(is_test=True)
    Business.objects.filter(pk=store.pk).update(is_sandbox=True)
    asked.respond_with(503, 503, 200)
    payment = to_tell(store, reader)
    assert [tell_due(), tell_due()] == [1, 0]
    for seconds in (40, 150):
        advance(store=store, by=timedelta(seconds=seconds))
        assert tell_due() == 1
    payment.refresh_from_db()
    assert payment.tell_at is None


def test_shop_is_told_what_an_app_has_settled(
    asked: Receiver, shop: Client, store: ConnectedStore, hooking: Hooking
) -> None:
    """The buyer pays at the second try, while the shop is notified of the first one."""
    app, method = wallet(hooking, store.business)
    pay(shop, method)
    assert tell_due() == 0
    order_id = ShopPayment.objects.get().order_id
    api = client_of(app.installation)

    def settle(status: str, reference: str) -> None:
        body = {"status": status, "reference": reference}
        answer = api.patch(f"/app-api/orders/{order_id}/payment", body, content_type="application/json")
        assert answer.status_code == 200, answer.content

    settle("FAILED", "no-money")

    def pays_meanwhile(connection: Any) -> None:
        pay(shop, method)
        settle("COMPLETED", "charge-2")
        assert tell_due() == 0  # as long as the one before is under way
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    asked.respond_with(Answer(script=pays_meanwhile), Answer())
    assert tell_due() == 2
    told = [json.loads(each.body)["data"] for each in asked.requests]
    assert [each["status"] for each in told] == ["FAILED", "COMPLETED"]
    assert told[1] == {
        "orderId": "o-1",
        "invoiceId": "inv-77",
        "status": "COMPLETED",
        "reference": "charge-2",
    }
    assert len(set(ids(asked))) == 2
    assert ShopPayment.objects.get().tell_at is None

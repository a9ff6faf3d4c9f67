"""Payments that apps make for a shop, most often before the order's row comes (contract, section 17, "Hooks")."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any
from unittest.mock import patch

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import ConnectedStore
from accounts.services import shops
from common import strangers
from common.ids import new_id
from installations.services.lifecycle import uninstall
from stores.connected import payments
from stores.connected.mirror import remove_old_mentions
from stores.connected.stores import end_store, open_store
from stores.models import MirroredRow, Order, OrderHookPart, Payment, Quote, ShopPayment
from stores.services.customer_erasure import remove_ended_stores
from stores.tasks import expire_payments
from tests.clients import client_of, shop_client
from tests.hooking import Hooked, Hooking, says
from tests.storeapi.checkouts import PAY, PAYMENT, ask, asked, order, pay, wallet
from tests.storeapi.rows import MAIN, post, published, put

pytestmark = [pytest.mark.django_db, pytest.mark.timed]

FAILED = {"status": "FAILED", "paymentUrl": None, "qrCode": None, "invoiceId": None, "expiresAt": None}


@pytest.fixture
def paying(store: ConnectedStore, hooking: Hooking) -> Hooked:
    return wallet(hooking, store.business)[0]


@pytest.fixture
def method(paying: Hooked) -> str:
    return f"{paying.app.slug}:wallet"


@pytest.fixture
def many_places(settings: Any) -> Iterator[None]:
    settings.WEB_THREADS = 64
    strangers.bound.cache_clear()
    yield
    strangers.bound.cache_clear()


def settle(app: Hooked, order_id: Any, status: str = "COMPLETED", **more: Any) -> Any:
    path = f"/app-api/orders/{order_id}/payment"
    return client_of(app.installation).patch(path, {"status": status} | more, "application/json")


def kept(shop: Client, id_: str = "o-1") -> Any:
    response = shop.get(f"{MAIN}/payments/{id_}")
    assert response.status_code == 200, response.content
    return response.json()["payment"]


def made() -> ShopPayment:
    return ShopPayment.objects.get()


# --- Making ------------------------------------------------------------------------------------------


def test_payment_is_there_before_its_order(
    shop: Client, store: ConnectedStore, paying: Hooked, method: str
) -> None:
    found = pay(shop, method)
    assert found == FAILED | PAY | {"status": "PENDING", "provider": str(paying.app.pk)}
    assert kept(shop) == found
    data = paying.asked()["data"]
    assert data == {
        "orderId": str(made().order_id), "amount": "900", "currency": "USD", "paymentMethodId": "wallet",
        "businessId": str(store.pk), "description": "Order 1001",
    }  # fmt: skip
    assert str(paying.call.order_id) == data["orderId"]
    assert order(shop, paymentMethod=method)["id"] == data["orderId"]


def test_pending_payment_is_given_again_without_asking(shop: Client, paying: Hooked, method: str) -> None:
    first = asked(shop, PAYMENT, paymentMethodId=method)
    again = asked(shop, PAYMENT, paymentMethodId=method, amount="1000")
    assert (again["answer"], again["parts"]) == (first["answer"], [])
    assert settle(paying, made().order_id).status_code == 200
    assert pay(shop, method)["status"] == "COMPLETED"
    assert len(paying.receiver.requests) == 1


def test_another_method_is_409_while_one_stands(
    shop: Client, store: ConnectedStore, paying: Hooked, method: str, hooking: Hooking
) -> None:
    """It may be of the same app or of another one. Once the payment has failed the customer may choose again."""
    other, others_method = wallet(hooking, store.business)
    pay(shop, method)
    for each in (others_method, f"{paying.app.slug}:card", "nobody:x"):
        response = ask(shop, PAYMENT, paymentMethodId=each)
        assert (response.status_code, response["X-Error-Code"]) == (409, "payment_pending")
    assert settle(paying, made().order_id, "FAILED").status_code == 200
    assert pay(shop, others_method)["provider"] == str(other.app.pk)
    assert settle(paying, made().order_id).status_code == 403


def test_app_that_fails_leaves_a_failed_payment(
    shop: Client, store: ConnectedStore, hooking: Hooking
) -> None:
    app, method = wallet(hooking, store.business, 500, PAY)
    found = asked(shop, PAYMENT, paymentMethodId=method)
    assert found["answer"]["payment"] == FAILED | {"provider": str(app.app.pk)}
    assert [each["outcome"] for each in found["parts"]] == ["FAILED"]
    assert pay(shop, method)["status"] == "PENDING"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("many_places")
def test_of_two_at_once_one_asks_the_app(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    app, method = wallet(hooking, store.business, says(PAY, delay=0.5))
    answers: list[Any] = []

    def press() -> None:
        try:
            answers.append(ask(shop, PAYMENT, paymentMethodId=method))
        finally:
            connection.close()

    threads = [threading.Thread(target=press) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert [each.status_code for each in answers] == [200] * 2
    assert [each.json()["answer"]["payment"]["status"] for each in answers] == ["PENDING"] * 2
    assert len(app.receiver.requests) == 1
    assert kept(shop)["paymentUrl"] == PAY["paymentUrl"]


# --- The order's row ---------------------------------------------------------------------------------


@pytest.mark.parametrize("named", ["its method", "another of the app", "none"])
def test_order_shows_the_payment_and_not_that_of_its_row(
    shop: Client, paying: Hooked, method: str, named: str
) -> None:
    pay(shop, method)
    name = {"its method": method, "another of the app": f"{paying.app.slug}:card", "none": ""}[named]
    found = order(shop, paymentMethod=name, payment={"status": "COMPLETED", "invoiceId": "other"})
    assert found["events"] == ["order.created"]
    (record,) = client_of(paying.installation).get("/app-api/orders").json()["data"]
    assert (record["payment"]["status"], record["payment"]["invoiceId"]) == ("PENDING", "inv-77")
    assert settle(paying, found["id"], reference="r-1").json()["payment"]["status"] == "COMPLETED"
    assert Payment.objects.get().reference == "r-1"
    assert order(shop, version=2, paymentMethod=name, note="x", payment={"status": "EXPIRED"})["events"] == []
    assert published() == ["order.created", "payment.completed"]


def test_row_with_another_method_has_its_own_payment(shop: Client, paying: Hooked, method: str) -> None:
    """And back. The report of its app is kept all the same."""
    pay(shop, method)
    found = order(shop, paymentMethod="Cash", payment={"status": "PENDING", "invoiceId": "till"})
    assert Payment.objects.get().invoice_id == "till"
    answer = settle(paying, found["id"])
    assert (answer.status_code, answer.json()["payment"]["status"]) == (200, "PENDING")
    assert kept(shop)["status"] == "COMPLETED"
    assert order(shop, version=2, paymentMethod=method)["events"] == ["payment.completed"]
    assert order(shop, version=3, paymentMethod="Cash")["events"] == []
    assert not Payment.objects.exists()


def test_payment_completed_before_its_order_is_in_the_first_events(
    shop: Client, paying: Hooked, method: str
) -> None:
    pay(shop, method)
    answer = settle(paying, made().order_id, reference="r-1")
    assert answer.json() == {
        "orderId": str(made().order_id),
        "payment": FAILED | PAY | {"status": "COMPLETED"},
    }
    assert published() == []
    assert order(shop, paymentMethod=method)["events"] == ["order.created", "payment.completed"]


def test_payment_made_after_the_order(shop: Client, paying: Hooked, method: str) -> None:
    """Its part is at the order at once, and not a second time by the quote."""
    found = order(shop, paymentMethod=method)
    quote = asked(shop, PAYMENT, paymentMethodId=method)["quote"]
    assert Payment.objects.get().payment_url == PAY["paymentUrl"]
    assert OrderHookPart.objects.get().point == PAYMENT
    assert settle(paying, found["id"]).status_code == 200
    assert published() == ["order.created", "payment.completed"]
    assert order(shop, quote, version=2, paymentMethod=method)["quote"] == "taken"
    assert OrderHookPart.objects.count() == 1


def test_amount_that_is_not_the_rows_is_noted(shop: Client, paying: Hooked, method: str) -> None:
    pay(shop, method, amount="800")
    order(shop, paymentMethod=method)
    assert (made().amount, made().row_amount) == (800, 900)
    order(shop, version=2, paymentMethod=method, subtotal=8, amount=8)
    assert made().row_amount is None


# --- Settling ----------------------------------------------------------------------------------------


def test_result_is_final_and_its_apps_alone(
    shop: Client, store: ConnectedStore, paying: Hooked, method: str, hooking: Hooking
) -> None:
    other, _ = wallet(hooking, store.business)
    pay(shop, method)
    order_id = made().order_id
    assert settle(other, order_id).status_code == 403
    assert settle(paying, order_id, "PENDING").status_code == 400
    assert made().status == "PENDING"
    assert settle(paying, order_id).status_code == 200
    assert settle(paying, order_id).status_code == 200
    answer = settle(paying, order_id, "FAILED")
    assert (answer.status_code, answer["X-Error-Code"]) == (409, "payment_final")
    order(shop, paymentMethod=method)
    assert settle(other, order_id).status_code == 403
    assert settle(paying, order_id).json()["id"] == str(order_id)
    assert published() == ["order.created", "payment.completed"]


def test_payment_of_a_row_belongs_to_no_app(shop: Client, paying: Hooked) -> None:
    with_one = order(shop, payment={"status": "PENDING"})["id"]
    without = order(shop, "", "o-2")["id"]
    for order_id in (with_one, without):
        assert settle(paying, order_id).status_code == 403
    assert settle(paying, new_id()).status_code == 404
    assert settle(paying, "nothing").status_code == 404


def test_payment_of_another_store_is_nobodys(
    shop: Client, connected: shops.Connected, paying: Hooked, method: str, hooking: Hooking
) -> None:
    """Neither its app there, nor that store's key."""
    pay(shop, method)
    other = shops.connect(name="Contoso")
    for system, id_ in ((connected, "second"), (other, "main")):
        store = open_store(system=system.system, external_id=id_, values={"name": "S", "currency": "USD"})
        app, _ = wallet(hooking, store.business)
        assert settle(app, made().order_id).status_code == 404
        assert shop_client(system).get(f"/store-api/stores/{id_}/payments/o-1").status_code == 404
    assert made().status == "PENDING"


@pytest.mark.parametrize("takes_commands", [True, False])
def test_shop_is_to_be_told_of_each_change(
    shop: Client, store: ConnectedStore, paying: Hooked, method: str, takes_commands: bool
) -> None:
    """But not of the result that its own call was answered with."""
    if takes_commands:
        store.system.commands_url = "https://shop.example/commands"
        store.system.save()
    pay(shop, method)
    assert made().tell_at is None
    settle(paying, made().order_id)
    told = made()
    assert (told.tell_at is not None, told.command_id is not None) == (takes_commands, takes_commands)
    assert told.tell_since == told.tell_at
    settle(paying, made().order_id)
    assert made().command_id == told.command_id


# --- Time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_row", [False, True])
def test_payment_that_nobody_pays_expires(
    shop: Client, store: ConnectedStore, hooking: Hooking, with_row: bool
) -> None:
    until = (timezone.now() + timedelta(minutes=5)).isoformat()
    app, method = wallet(hooking, store.business, PAY | {"expiresAt": until})
    pay(shop, method)
    if with_row:
        order(shop, paymentMethod=method)
    assert payments.expire_payments(now=timezone.now() + timedelta(minutes=4)) == 0
    expire_payments()
    assert kept(shop)["status"] == "PENDING"
    assert payments.expire_payments(now=timezone.now() + timedelta(minutes=6)) == 1
    assert kept(shop)["status"] == "EXPIRED"
    assert settle(app, made().order_id).status_code == 409
    expected = ["order.created", "payment.expired"] if with_row else []
    assert published() == expected
    if not with_row:
        assert order(shop, paymentMethod=method)["events"] == ["order.created"]
        assert Payment.objects.get().status == "EXPIRED"


def test_clock_of_a_store_for_tests_lets_it_expire(hooking: Hooking) -> None:
    connected = shops.connect(name="Contoso", is_test=True)
    store = open_store(system=connected.system, external_id="main", values={"name": "M", "currency": "USD"})
    until = (timezone.now() + timedelta(minutes=5)).isoformat()
    _, method = wallet(hooking, store.business, PAY | {"expiresAt": until})
    shop = shop_client(connected)
    pay(shop, method)
    assert post(shop, "advance", seconds=240).json()["became"]["payments"] == 0
    assert kept(shop)["status"] == "PENDING"
    assert post(shop, "advance", seconds=120).json()["became"]["payments"] == 1
    assert kept(shop)["status"] == "EXPIRED"


def test_mention_stays_while_there_is_a_payment(shop: Client, store: ConnectedStore, method: str) -> None:
    pay(shop, method)
    asked(shop, "order.validate")
    assert remove_old_mentions(now=timezone.now() + timedelta(days=91)) == 1
    assert MirroredRow.objects.get().external_id == "o-1"
    assert order(shop, paymentMethod=method)["id"] == str(made().order_id)


# --- A process that dies ------------------------------------------------------------------------------


class Killed(BaseException):
    """Nothing catches it, as nothing catches SIGKILL: what was committed stays, and no other line runs."""


@contextmanager
def killed(target: str, *, after: bool) -> Iterator[None]:
    """Die before this function of `stores.connected.payments` is called, or once it has returned."""
    real = getattr(payments, target)

    def die(*args: Any, **options: Any) -> Any:
        if after:
            real(*args, **options)
        raise Killed

    with patch.object(payments, target, die), pytest.raises(Killed):
        yield


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("step", "after", "calls"),
    [("_open", False, 0), ("_open", True, 0), ("_ask", True, 1), ("_keep", False, 1), ("_keep", True, 1)],
)
def test_process_that_dies_makes_no_second_payment_and_loses_none(
    shop: Client, paying: Hooked, method: str, step: str, after: bool, calls: int
) -> None:
    with killed(step, after=after):
        ask(shop, PAYMENT, paymentMethodId=method)
    assert len(paying.receiver.requests) == calls
    if step == "_open" and not after:
        assert not ShopPayment.objects.exists()
        assert pay(shop, method)["status"] == "PENDING"
        return
    assert pay(shop, method)["status"] == "PENDING"
    assert ask(shop, PAYMENT, paymentMethodId="nobody:x").status_code == 409
    assert len(paying.receiver.requests) == calls
    if step == "_keep" and after:
        assert pay(shop, method)["paymentUrl"] == PAY["paymentUrl"]
        return
    assert payments.expire_payments(now=timezone.now() + timedelta(seconds=61)) == 1
    assert kept(shop)["status"] == "EXPIRED"
    assert pay(shop, method)["paymentUrl"] == PAY["paymentUrl"]
    assert len(paying.receiver.requests) == calls + 1


@pytest.mark.django_db(transaction=True)
def test_app_that_reports_before_a_dead_process_kept_its_answer(
    shop: Client, paying: Hooked, method: str
) -> None:
    """The result counts, although nothing else is known of the payment."""
    with killed("_keep", after=False):
        ask(shop, PAYMENT, paymentMethodId=method)
    assert settle(paying, made().order_id).status_code == 200
    assert payments.expire_payments(now=timezone.now() + timedelta(seconds=61)) == 0
    assert pay(shop, method)["status"] == "COMPLETED"
    assert order(shop, paymentMethod=method)["events"] == ["order.created", "payment.completed"]


@pytest.mark.django_db(transaction=True)
def test_result_that_comes_before_the_answer_stands(
    shop: Client, store: ConnectedStore, hooking: Hooking
) -> None:
    app, method = wallet(hooking, store.business, says(PAY, delay=1.0))
    answers: list[Any] = []

    def press() -> None:
        try:
            answers.append(pay(shop, method))
        finally:
            connection.close()

    pressing = threading.Thread(target=press)
    pressing.start()
    app.receiver.wait_for(1)
    assert settle(app, made().order_id).status_code == 200
    pressing.join()
    assert answers == [FAILED | PAY | {"status": "COMPLETED", "provider": str(app.app.pk)}]


@pytest.mark.django_db(transaction=True)
def test_settling_that_dies_is_done_whole_or_not_at_all(shop: Client, paying: Hooked, method: str) -> None:
    pay(shop, method)
    found = order(shop, paymentMethod=method)
    with killed("_show", after=True):
        settle(paying, found["id"])
    assert (made().status, Payment.objects.get().status) == ("PENDING", "PENDING")
    assert settle(paying, found["id"]).status_code == 200
    assert (made().status, Payment.objects.get().status) == ("COMPLETED", "COMPLETED")
    assert published() == ["order.created", "payment.completed"]


# --- What goes ---------------------------------------------------------------------------------------


def test_erased_customer_is_in_no_payment(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    answer = {"paymentUrl": "https://pay.example/kim", "qrCode": "Kim Lee", "invoiceId": "Kim Lee 7"}
    app, method = wallet(hooking, store.business, answer)
    pay(shop, method)
    customer = {"customer": {"name": "Kim Lee", "email": "kim@example.com"}}
    order(shop, paymentMethod=method, **customer)
    settle(app, made().order_id, reference="Kim Lee")
    assert post(shop, "customers/erase", email="kim@example.com").status_code == 202
    order(shop, version=2, paymentMethod=method, note="x", **customer)
    rows = [*ShopPayment.objects.values(), *Payment.objects.values(), *Order.objects.values()]
    assert "kim" not in str(rows).lower()
    assert kept(shop)["status"] == "COMPLETED"


def test_store_that_ends_takes_quotes_and_payments_along(
    shop: Client, store: ConnectedStore, method: str
) -> None:
    pay(shop, method)
    put(shop, "products/p-1")
    end_store(system=store.system, external_id="main")
    assert payments.expire_payments(now=timezone.now() + timedelta(days=1)) == 0
    remove_ended_stores()
    assert not ShopPayment.objects.exists()
    assert not Quote.objects.exists()
    assert not MirroredRow.objects.exists()


def test_payment_outlives_its_app(shop: Client, paying: Hooked, method: str) -> None:
    """It expires, and the customer may choose again."""
    pay(shop, method)
    ShopPayment.objects.update(expires_at=timezone.now())
    uninstall(installation=paying.installation)
    assert pay(shop, method)["status"] == "PENDING"
    assert payments.expire_payments(now=timezone.now() + timedelta(seconds=1)) == 1
    assert pay(shop, method) is None

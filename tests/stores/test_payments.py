from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction

from common import strangers
from common.errors import Conflict, Invalid, NotAllowed
from common.web import visits
from stores import signals
from stores.enums import PaymentStatus
from stores.hookpoints import HookPoint, PaymentDetails, PaymentMethod, registered
from stores.models import Order, Payment
from stores.services import payments
from stores.services.payments import choose_again, expire_payment, expire_payments, settle_payment
from stores.tasks import expire_payments as expire_payments_task
from tests import factories
from tests.signals import connected
from tests.strangers import places_taken, visit

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)
OFFER = PaymentMethod("pay:wallet", "Wallet", provider="app-17")


@pytest.fixture
def order(shop):
    return factories.order(shop, payment_method="pay:card")


@pytest.mark.parametrize(("status", "told"), [("COMPLETED", ["payment_completed"]), ("FAILED", [])])
def test_settling_a_waiting_payment(order, ear, status, told):
    factories.payment(order, invoice_id="INV-1")
    payment = settle_payment(order=order, provider="app", status=status, reference="ref 7", now=NOON)
    assert (payment.status, payment.reference, payment.updated_at) == (status, "ref 7", NOON)
    assert Payment.objects.get().status == status
    assert ear.names == told


def test_signal_brings_the_payment_with_its_order(order, ear, django_assert_num_queries):
    factories.payment(order)
    settle_payment(order=order, provider="app", status="COMPLETED", now=NOON)
    heard = ear.only("payment_completed")
    with django_assert_num_queries(0):
        assert heard["payment"].currency == "USD"
    assert heard["now"] == NOON


def test_settling_counts_as_a_change_of_the_order(order):
    factories.payment(order)
    settle_payment(order=order, provider="app", status="COMPLETED", now=NOON)
    assert Order.objects.get().updated_at == NOON


@pytest.mark.spec(
    "Contract 9 Orders", "A final payment: the same status again is 200 without event, another is 409"
)
@pytest.mark.parametrize("final", ["COMPLETED", "FAILED", "EXPIRED"])
@pytest.mark.parametrize("status", ["COMPLETED", "FAILED"])
def test_final_payment_stays_as_it_is(order, ear, final, status):
    factories.payment(order, status=final, reference="first")
    if status == final:
        assert (
            settle_payment(order=order, provider="app", status=status, reference="second").reference
            == "first"
        )
    else:
        with pytest.raises(Conflict, match=f"{final} and can't become {status}"):
            settle_payment(order=order, provider="app", status=status)
    assert Payment.objects.get().status == final
    assert ear == []


@pytest.mark.parametrize("status", ["PENDING", "EXPIRED", "PAID"])
def test_other_words_are_invalid(order, status):
    factories.payment(order)
    with pytest.raises(Invalid, match="COMPLETED, FAILED"):
        settle_payment(order=order, provider="app", status=status)


@pytest.mark.spec("Contract 9 Orders", "PATCH payment of a CASH or CARD order is 403")
def test_payment_that_the_merchant_takes_is_not_settled(shop):
    with pytest.raises(NotAllowed):
        settle_payment(order=factories.order(shop), provider="app", status="COMPLETED")


# --- Expiry -----------------------------------------------------------------------------------------


@pytest.mark.spec(
    "Contract 9 Orders", "A payment not completed in time becomes EXPIRED, and payment.expired is published"
)
def test_payment_expires_when_its_time_is_over(order, ear):
    factories.payment(order, expires_at=NOON)
    assert expire_payments(now=NOON - SECOND) == 0
    assert ear == []
    assert expire_payments(now=NOON) == 1
    assert Payment.objects.get().status == "EXPIRED"
    assert ear.names == ["payment_expired"]
    assert ear[0].arguments["payment"].order_number == order.number
    assert expire_payments(now=NOON) == 0
    assert len(ear) == 1


def test_only_waiting_payments_with_a_date_expire(shop, ear):
    factories.payment(factories.order(shop))
    for status in PaymentStatus.values:
        if status != "PENDING":
            factories.payment(factories.order(shop), status=status, expires_at=NOON)
    assert expire_payments(now=NOON + SECOND) == 0
    assert ear == []


def test_payment_that_can_not_be_expired_does_not_hold_up_the_others(shop, caplog):
    stuck, free = factories.order(shop), factories.order(shop)
    factories.payment(stuck, expires_at=NOON - SECOND)
    factories.payment(free, expires_at=NOON)

    def fail(sender, payment, **arguments):
        if payment.order_id == stuck.pk:
            raise RuntimeError("the event could not be written")

    with connected(signals.payment_expired, fail):
        assert expire_payments(now=NOON) == 1
    assert dict(Payment.objects.values_list("order", "status")) == {stuck.pk: "PENDING", free.pk: "EXPIRED"}
    assert f"payment {stuck.payment.pk}" in caplog.text


def test_settled_payments_hold_up_no_later_one(shop, monkeypatch):
    monkeypatch.setattr(payments, "EXPIRY_BATCH", 1)
    factories.payment(factories.order(shop), status="COMPLETED", expires_at=NOON - SECOND)
    due = factories.payment(factories.order(shop), expires_at=NOON)
    assert expire_payments(now=NOON) == 1
    due.refresh_from_db()
    assert due.status == "EXPIRED"


def test_only_waiting_payments_of_the_store_expire_earlier(shop, mira):
    """As a test store's clock is moved on: one is overdue then, and one is not yet."""
    hour, late = timedelta(hours=1), timedelta(days=1)
    due, later, settled, undated, other = (
        factories.payment(factories.order(store), status=status, expires_at=at)
        for store, status, at in (
            (shop, "PENDING", NOON),
            (shop, "PENDING", NOON + late),
            (shop, "COMPLETED", NOON),
            (shop, "PENDING", None),
            (factories.business(mira), "PENDING", NOON),
        )
    )
    assert payments.bring_forward(business=shop, by=hour, now=NOON - hour) == [due.order]
    times = {each.pk: each.expires_at for each in Payment.objects.all()}
    assert times == {
        due.pk: NOON - hour,
        later.pk: NOON + late - hour,
        settled.pk: NOON,
        undated.pk: None,
        other.pk: NOON,
    }


@pytest.mark.parametrize(
    ("status", "until"), [("COMPLETED", NOON), ("PENDING", None), ("PENDING", NOON + SECOND)]
)
def test_payment_that_is_not_due_does_not_expire(order, ear, status, until):
    """It was found in a list, and may have changed before its turn."""
    factories.payment(order, status=status, expires_at=until)
    assert not expire_payment(order=order, now=NOON)
    assert (Payment.objects.get().status, ear) == (status, [])


def test_history_of_an_order_has_the_end_of_its_payment(order):
    factories.payment(order, expires_at=NOON)
    expire_payments(now=NOON)
    line = order.changes.get()
    assert (line.kind, line.status, line.at, line.actor) == ("PAYMENT", "EXPIRED", NOON, "SYSTEM")


def test_task_expires_what_is_due(order):
    factories.payment(order, expires_at=NOON - timedelta(days=3650))
    expire_payments_task()
    assert Payment.objects.get().status == "EXPIRED"


# --- Choosing again ---------------------------------------------------------------------------------


@pytest.mark.spec("Contract 6 Hooks", "After a failed payment the customer may choose again")
@pytest.mark.parametrize("status", ["FAILED", "EXPIRED"])
def test_another_method_after_a_payment_that_came_to_nothing(order, status):
    factories.payment(order, status=status, invoice_id="OLD", reference="declined")
    with registered("checkout.create_payment", lambda request: PaymentDetails(invoice_id="NEW")):
        chosen = choose_again(order=order, payment_method="pay:wallet", offered=[OFFER])
    assert (chosen.payment_method, chosen.payment_method_name) == ("pay:wallet", "Wallet")
    payment = Order.objects.get().payment
    assert (payment.status, payment.invoice_id, payment.reference) == ("PENDING", "NEW", "")
    assert payment.provider == "app-17"


def test_cash_after_a_failed_payment(order):
    factories.payment(order, status="FAILED")
    chosen = choose_again(order=order, payment_method="CASH", now=NOON)
    assert (chosen.payment_method, chosen.payment_method_name) == ("CASH", "")
    assert chosen.updated_at == NOON
    assert not hasattr(chosen, "payment")
    assert not Payment.objects.exists()


@pytest.mark.parametrize("status", ["PENDING", "COMPLETED"])
def test_no_other_method_while_a_payment_may_be_taken(order, status):
    factories.payment(order, status=status)
    with pytest.raises(Conflict, match="pending or completed"):
        choose_again(order=order, payment_method="CASH")
    assert Payment.objects.get().status == status


def test_no_other_method_for_a_cancelled_order(shop):
    order = factories.order(shop, payment_method="pay:card", status="CANCELLED")
    factories.payment(order, status="FAILED")
    with pytest.raises(Conflict, match="cancelled"):
        choose_again(order=order, payment_method="CASH")


def test_no_other_method_where_the_merchant_takes_the_payment(shop):
    with pytest.raises(NotAllowed):
        choose_again(order=factories.order(shop), payment_method="CARD")


@pytest.mark.parametrize(("method", "asked"), [("pay:wallet", 1), ("BITCOIN", 0)])
def test_method_that_is_not_offered_is_invalid(order, method, asked):
    """Apps are asked only for what may be a method of theirs."""
    factories.payment(order, status="FAILED")
    requests = []
    ask = registered("checkout.payment_methods", lambda request: requests.append(request) or [])
    with ask, pytest.raises(Invalid):
        choose_again(order=order, payment_method=method)
    assert len(requests) == asked
    assert Payment.objects.get().status == "FAILED"


def test_nobody_waits_for_another_method_within_a_transaction(order):
    factories.payment(order, status="FAILED")
    with transaction.atomic(), pytest.raises(RuntimeError, match="must not run inside a transaction"):
        choose_again(order=order, payment_method="CASH")


# --- Waiting for apps -------------------------------------------------------------------------------


@pytest.fixture
def bound(settings):
    settings.WEB_THREADS = 8
    strangers.bound.cache_clear()
    yield strangers.bound()
    strangers.bound.cache_clear()


@pytest.mark.spec("Contract 15 Doors", "An order is only saved if its payment can be waited for")
@pytest.mark.parametrize(("seconds", "needs_place"), [(None, False), (0.2, False), (0.25, True), (0.3, True)])
def test_app_that_may_be_slow_gets_its_place_before_the_order(shop, bound, seconds, needs_place):
    """One whose last payment took less than half of the free time needs none."""
    if seconds is not None:
        bound.remember(OFFER.provider, HookPoint.CREATE_PAYMENT, seconds)

    def place():
        payments.require_time_for_payment(shop, OFFER.provider)
        (here,) = visits.in_progress
        return bound.holds(here) is not None

    assert visit(place) == needs_place


def test_method_that_was_offered_is_taken_although_another_app_could_not_be_asked(order, bound):
    factories.payment(order, status="FAILED")

    def choose():
        with suppress(strangers.NoPlace):
            strangers.require("slow")
        assert strangers.was_refused()
        return payments.chosen_method(order.business, OFFER.id, [OFFER])

    with places_taken():
        assert visit(choose) == OFFER


def test_name_of_a_method_is_cut_to_what_an_order_keeps(order):
    factories.payment(order, status="FAILED")
    long = PaymentMethod("pay:wallet", "W" * 201, provider="app-17")
    with registered("checkout.create_payment", lambda request: PaymentDetails()):
        chosen = choose_again(order=order, payment_method="pay:wallet", offered=[long])
    assert chosen.payment_method_name == "W" * 200

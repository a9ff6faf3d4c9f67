"""How several answers become one (contract section 6, the table of hook points)."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from socket import socket
from threading import Barrier, BrokenBarrierError
from typing import Any

import pytest

from accounts.models import Business
from extensions.hooks.answers import read
from extensions.models import HookCall, HookPreference
from stores import hookpoints
from stores.enums import OrderValidation
from stores.hookpoints import Discount, OrderVerdict, PaymentDetails, PaymentMethod
from stores.models import Order, Product
from stores.services.checkout import place_order
from tests import factories
from tests.extensions.hooks import asking
from tests.factories import order_request
from tests.hooking import Hooking, says
from tests.receivers import Answer

PAYMENT_METHODS = "checkout.payment_methods"
CREATE_PAYMENT = "checkout.create_payment"
SHIPPING = "checkout.shipping_rates"
VALIDATE = "order.validate"
DISCOUNTS = "order.calculate_discounts"


@pytest.fixture(autouse=True)
def _no_failure_is_the_platforms_own(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A call that no app answers is a failure of that app; an error of the platform looks alike to the shopper."""
    yield
    assert [
        each.getMessage() for each in caplog.get_records("call") if each.name == hookpoints.__name__
    ] == []


# --- In which order ---------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.spec("Hook calls", "Within one hook point, hooks run in ascending priority")
def test_priorities_run_one_after_the_other(shop: Business, hooking: Hooking) -> None:
    last = hooking(SHIPPING, {"fee": 3}, priority=30)
    first = hooking(SHIPPING, says({"fee": 1}, delay=0.1), priority=10)
    second = hooking(SHIPPING, says({"fee": 2}, delay=0.1), priority=20)

    assert asking.fee(shop) == 3
    at = [app.receiver.requests[0].at for app in (first, second, last)]
    assert at[1] - at[0] > 0.1
    assert at[2] - at[1] > 0.1


@pytest.mark.long
@pytest.mark.spec(
    "Contract 6 Hooks", "Equal priorities run side by side, and count in the order of the installs"
)
def test_equal_priorities_run_side_by_side(shop: Business, hooking: Hooking) -> None:
    """Each app responds once all have been asked."""
    all_asked = Barrier(3)
    for fee in (1, 2, 3):
        hooking(SHIPPING, Answer(script=partial(responds_with_others, all_asked, fee)))

    assert asking.fee(shop) == 3
    assert set(HookCall.objects.values_list("outcome", flat=True)) == {"ANSWERED"}


def responds_with_others(others: Barrier, fee: int, connection: socket) -> None:
    with suppress(BrokenBarrierError):
        others.wait(4)
        connection.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"fee": %d}' % fee)


def test_default_priority_lies_between_lower_and_higher(shop: Business, hooking: Hooking) -> None:
    hooking(SHIPPING, {"fee": 3}, priority=101)
    hooking(SHIPPING, {"fee": 2})
    hooking(SHIPPING, {"fee": 1}, priority=99)

    assert asking.fee(shop) == 3


# --- checkout.shipping_rates ------------------------------------------------------------------------


@pytest.mark.spec(
    "Contract 6 Hooks", "Each valid fee overrides the one before; a failure keeps the fee so far"
)
def test_failure_keeps_the_fee_of_the_app_before(shop: Business, hooking: Hooking) -> None:
    hooking(SHIPPING, {"fee": 120}, priority=1)
    broken = hooking(SHIPPING, 500, priority=2)

    assert asking.fee(shop) == 120
    assert broken.call.fallback == "The previous app's fee was kept."


def test_every_app_is_told_the_stores_own_fee(shop: Business, hooking: Hooking) -> None:
    hooking(SHIPPING, {"fee": 0}, priority=1)
    second = hooking(SHIPPING, {"fee": 5}, priority=2)

    asking.fee(shop, built_in=350)
    assert second.asked()["data"]["builtInFee"] == 350


# --- checkout.payment_methods and checkout.create_payment -------------------------------------------


@pytest.mark.spec("Contract 9 Orders", "Payment methods are offered as <app slug>:<id>")
def test_methods_of_all_apps_in_order(shop: Business, hooking: Hooking) -> None:
    second = hooking(PAYMENT_METHODS, {"methods": [{"id": "wallet", "name": "Second"}]}, priority=2)
    first = hooking(
        PAYMENT_METHODS,
        {
            "methods": [
                {
                    "id": "wallet",
                    "name": "First",
                    "description": "By phone",
                    "icon": "https://x.example/i.png",
                },
                {"id": "wallet", "name": "Again"},
                {"id": "a:b", "name": "Colon", "description": None, "icon": None},
                {"id": "empty", "name": "Empty", "description": "", "icon": ""},
            ]
        },
        priority=1,
    )
    hooking(PAYMENT_METHODS, {"methods": []}, priority=3)

    provider = str(first.app.pk)
    assert asking.methods(shop) == [
        PaymentMethod(f"{first.app.slug}:wallet", "First", provider, "By phone", "https://x.example/i.png"),
        PaymentMethod(f"{first.app.slug}:a:b", "Colon", provider),
        PaymentMethod(f"{first.app.slug}:empty", "Empty", provider),
        PaymentMethod(f"{second.app.slug}:wallet", "Second", str(second.app.pk)),
    ]
    assert first.asked()["data"] == {"businessId": str(shop.pk)}


@pytest.mark.spec("Contract 6 Hooks", "An icon that is not HTTPS makes the answer a failure")
@pytest.mark.parametrize(
    "method",
    [
        {"id": "a", "name": "A", "icon": "http://x.example/i.png"},
        {"id": "a", "name": "A", "icon": "javascript:alert(1)"},
        {"id": "a", "name": "A", "icon": "http://127.0.0.1:9/i.png"},
        {"id": "", "name": "A"},
        {"name": "A"},
        {"id": "a"},
        {"id": 7, "name": "A"},
        {"id": "x" * 101, "name": "A"},
    ],
)
def test_wrong_method_leaves_all_of_the_app_out(
    shop: Business, hooking: Hooking, method: dict[str, Any]
) -> None:
    app = hooking(PAYMENT_METHODS, {"methods": [{"id": "good", "name": "Good"}, method]})
    sound = hooking(PAYMENT_METHODS, {"methods": [{"id": "b", "name": "B"}]})

    assert [each.id for each in asking.methods(shop)] == [f"{sound.app.slug}:b"]
    assert app.call.outcome == "UNEXPECTED"
    assert app.call.problem.startswith("methods[1]")
    assert app.call.fallback == "This app's payment methods were left out."


def test_loopback_icon_is_fine_in_debug(shop: Business, hooking: Hooking, settings: Any) -> None:
    settings.DEBUG = True
    hooking(PAYMENT_METHODS, {"methods": [{"id": "a", "name": "A", "icon": "http://127.0.0.1:9/i.png"}]})

    assert len(asking.methods(shop)) == 1


def test_one_method_is_verified_with_its_app_alone(shop: Business, hooking: Hooking) -> None:
    app = hooking(PAYMENT_METHODS, {"methods": [{"id": "a", "name": "A"}]})
    other = hooking(PAYMENT_METHODS, {"methods": [{"id": "a", "name": "A"}]})

    assert [each.id for each in asking.methods(shop, only=f"{app.app.slug}:a")] == [f"{app.app.slug}:a"]
    assert not other.receiver.requests


def ordered(shop: Business, method: str, **fields: Any) -> Order:
    return factories.order(shop, number="1001", subtotal=2850, amount=2850, payment_method=method, **fields)


@pytest.mark.spec("Contract 6 Hooks", "Only the app that owns the chosen method makes the payment")
def test_owner_alone_makes_the_payment(shop: Business, hooking: Hooking) -> None:
    answer = {
        "paymentUrl": "https://pay.example/77#now", "qrCode": "pay:77", "invoiceId": "inv-77",
        "expiresAt": "2026-11-20T15:34:05+01:00",
    }  # fmt: skip
    app = hooking(CREATE_PAYMENT, answer)
    other = hooking(CREATE_PAYMENT, {})
    order = ordered(shop, f"{app.app.slug}:wallet")

    assert hookpoints.ask_create_payment(order=order).answer == PaymentDetails(
        "https://pay.example/77#now", "pay:77", "inv-77", datetime(2026, 11, 20, 14, 34, 5, tzinfo=UTC)
    )
    assert not other.receiver.requests
    assert app.asked()["data"] == {
        "orderId": str(order.pk), "amount": "2850", "currency": "USD", "paymentMethodId": "wallet",
        "businessId": str(shop.pk), "description": f"Order 1001 at {shop.name}",
    }  # fmt: skip
    assert app.call.order_id == order.pk


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"paymentUrl": None, "qrCode": None, "invoiceId": None, "expiresAt": None},
        {"paymentUrl": "", "expiresAt": ""},
    ],
)
def test_everything_in_a_payment_is_optional(shop: Business, hooking: Hooking, answer: Any) -> None:
    app = hooking(CREATE_PAYMENT, answer)

    assert hookpoints.ask_create_payment(order=ordered(shop, f"{app.app.slug}:a")).answer == PaymentDetails()


@pytest.mark.spec("Contract 6 Hooks", "A paymentUrl that is not HTTPS makes the answer a failure")
@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"paymentUrl": "http://pay.example/"}, "paymentUrl: "),
        ({"paymentUrl": "http://127.0.0.1:9/"}, "paymentUrl: "),
        ({"paymentUrl": "//pay.example/"}, "paymentUrl: "),
        ({"paymentUrl": "data:text/html,hello"}, "paymentUrl: "),
        ({"paymentUrl": "https://bank.example@pay.example/"}, "paymentUrl: "),
        ({"paymentUrl": 5}, "paymentUrl: "),
        ({"expiresAt": "tomorrow"}, "expiresAt: "),
        ({"expiresAt": "2026-11-20T15:34:05"}, "expiresAt: "),
        ({"expiresAt": "9999-12-31T23:59:59Z"}, "expiresAt: Enter a time from 2000 to 9998."),
        ({"expiresAt": "0001-01-01T00:00:00Z"}, "expiresAt: "),
        ({"expiresAt": "1999-12-31T23:59:59Z"}, "expiresAt: Enter a time from 2000 to 9998."),
        ({"invoiceId": "x" * 201}, "invoiceId: "),
        (500, "It answered 500."),
    ],
)
def test_wrong_payment_is_none(shop: Business, hooking: Hooking, answer: Any, problem: str) -> None:
    app = hooking(CREATE_PAYMENT, answer)

    assert hookpoints.ask_create_payment(order=ordered(shop, f"{app.app.slug}:a")).answer is None
    assert app.call.fallback.startswith("The payment failed.")
    assert app.call.problem.startswith(problem)


def test_payment_of_an_app_that_has_gone_fails(shop: Business) -> None:
    assert hookpoints.ask_create_payment(order=ordered(shop, "gone:wallet")).answer is None


@pytest.mark.spec("Contract 6 Hooks", "No retry inside a flow: a payment is never asked for twice")
def test_payment_is_asked_for_once_on_a_connection_of_its_own(shop: Business, hooking: Hooking) -> None:
    app = hooking(CREATE_PAYMENT, {})
    order = ordered(shop, f"{app.app.slug}:a")
    hookpoints.ask_create_payment(order=order)
    hookpoints.ask_create_payment(order=order)
    app.receiver.hang_up()
    hookpoints.ask_create_payment(order=order)

    assert [each.connection for each in app.receiver.requests] == [0, 1, 2]


def test_any_other_hook_is_called_on_the_connection_that_is_open(shop: Business, hooking: Hooking) -> None:
    app = hooking(SHIPPING, {"fee": 1})
    asking.fee(shop)
    asking.fee(shop)

    assert [each.connection for each in app.receiver.requests] == [0, 0]


# --- order.validate ---------------------------------------------------------------------------------


@pytest.mark.spec("Contract 6 Hooks", "The first valid: false refuses, the rest is not asked")
def test_first_refusal_refuses_and_the_rest_is_not_asked(shop: Business, hooking: Hooking) -> None:
    agreeing = hooking(VALIDATE, {"valid": True}, priority=1)
    hooking(VALIDATE, {"valid": False, "reason": "  Too much bread. "}, priority=2)
    later = hooking(VALIDATE, {"valid": False, "reason": "Never."}, priority=3)

    assert asking.verdict(shop) == OrderVerdict(valid=False, reason="Too much bread.")
    assert len(agreeing.receiver.requests) == 1
    assert not later.receiver.requests
    assert not later.calls


@pytest.mark.long
def test_first_refusal_of_a_group_counts_however_late_it_came(shop: Business, hooking: Hooking) -> None:
    hooking(VALIDATE, says({"valid": False, "reason": "First."}, delay=0.3))
    second = hooking(VALIDATE, {"valid": False, "reason": "Second."})

    assert asking.verdict(shop).reason == "First."
    assert second.call.outcome == "ANSWERED"


def test_request_of_validate_names_the_items(shop: Business, hooking: Hooking) -> None:
    app = hooking(VALIDATE, {"valid": True, "reason": None})

    assert asking.verdict(shop) == OrderVerdict()
    (line,) = asking.LINES
    assert app.asked()["data"] == {
        "items": [{"productId": str(line.product_id), "quantity": 2}], "subtotal": 2000,
        "deliveryMethod": "PICKUP",
    }  # fmt: skip


@pytest.mark.spec("Contract 6 Hooks", "An answer is nested at most 64 levels deep")
@pytest.mark.parametrize("levels", [64, 495, 1000, 30_000])
def test_deep_answer_does_not_silence_the_apps_beside_it(
    shop: Business, hooking: Hooking, levels: int
) -> None:
    deep = Answer(body=b'{"valid":true,"x":' + b"[" * levels + b"]" * levels + b"}")
    broken = hooking(VALIDATE, deep)
    hooking(VALIDATE, {"valid": False, "reason": "Too much bread."})

    assert asking.verdict(shop) == OrderVerdict(valid=False, reason="Too much bread.", all_heard=False)
    assert broken.call.outcome == ("NOT_JSON" if levels > 1023 else "UNEXPECTED")
    assert broken.breaker.failures == 1


def test_answer_of_64_levels_is_used(shop: Business, hooking: Hooking) -> None:
    hooking(VALIDATE, Answer(body=b'{"valid":false,"x":' + b"[" * 63 + b"]" * 63 + b"}"))

    assert asking.verdict(shop) == OrderVerdict(valid=False)


def test_answer_that_we_fail_at_does_not_silence_the_apps_beside_it(
    shop: Business, hooking: Hooking, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail_at_the_first(point: Any, body: bytes) -> Any:
        if b"true" in body:
            raise KeyError
        return read(point, body)

    monkeypatch.setattr("extensions.hooks.calling.read", fail_at_the_first)
    broken = hooking(VALIDATE, {"valid": True})
    hooking(VALIDATE, {"valid": False})

    assert not asking.verdict(shop).valid
    assert broken.call.problem == "The answer could not be read."
    assert broken.breaker.failures == 1


@pytest.mark.spec("Contract 6 Hooks", "A failed order.validate counts as valid, and the order is marked")
@pytest.mark.parametrize("answer", [500, {"valid": "yes"}, {"valid": None}, {}])
def test_order_that_could_not_be_checked_is_marked(
    shop: Business, hooking: Hooking, bread: Product, answer: Any, django_capture_on_commit_callbacks: Any
) -> None:
    broken = hooking(VALIDATE, answer, priority=1)
    sound = hooking(VALIDATE, {"valid": True}, priority=2)

    with django_capture_on_commit_callbacks(execute=True):
        order = place_order(business=shop, request=order_request((bread, 1)))

    assert order.validation == OrderValidation.NOT_VALIDATED
    assert broken.call.fallback == "The order was accepted without this app's check."
    assert sound.call.fallback == ""
    assert {broken.call.order_id, sound.call.order_id} == {order.pk}


@pytest.mark.spec(
    "Contract 6 Hooks", "The merchant may set an installation to refuse what it could not check"
)
def test_order_is_refused_where_the_merchant_wants_it_so(shop: Business, hooking: Hooking) -> None:
    broken = hooking(VALIDATE, 500, priority=1)
    later = hooking(VALIDATE, {"valid": True}, priority=2)
    HookPreference.objects.create(installation=broken.installation, refuse_unvalidated=True)

    told = asking.verdict(shop)

    assert not told.valid
    assert told.reason == "This order can't be checked at the moment. Please try again in a few minutes."
    assert broken.call.fallback.startswith("The order was refused")
    assert not later.receiver.requests


def test_preference_of_one_app_does_not_reach_another(shop: Business, hooking: Hooking) -> None:
    strict = hooking(VALIDATE, {"valid": True})
    hooking(VALIDATE, 500)
    HookPreference.objects.create(installation=strict.installation, refuse_unvalidated=True)

    assert asking.verdict(shop) == OrderVerdict(all_heard=False)


# --- order.calculate_discounts ----------------------------------------------------------------------


@pytest.mark.spec("Contract 6 Hooks", "Discounts add up; a failure gives no discount")
def test_discounts_add_up(shop: Business, hooking: Hooking) -> None:
    hooking(DISCOUNTS, {"discount": 100, "reason": "Tuesday"}, priority=1)
    hooking(DISCOUNTS, {"discount": 0, "reason": "Nothing today"}, priority=2)
    broken = hooking(DISCOUNTS, {"discount": -1}, priority=3)
    last = hooking(DISCOUNTS, {"discount": 50, "reason": "Loyal"}, priority=4)

    assert asking.discount(shop, promo=10) == Discount(150, "Tuesday; Loyal")
    assert broken.call.outcome == "UNEXPECTED"
    assert broken.call.fallback == "This app gave no discount."
    assert last.asked()["data"] == {
        "items": [{"productId": str(asking.LINES[0].product_id), "quantity": 2}],
        "subtotal": 2000, "promoDiscount": 10, "deliveryFee": 350,
    }  # fmt: skip


@pytest.mark.spec("Contract 6 Hooks", "Discounts never take off more than subtotal minus promoDiscount")
def test_discounts_end_at_the_subtotal_less_the_promo_discount(shop: Business, hooking: Hooking) -> None:
    hooking(DISCOUNTS, {"discount": 1500})
    hooking(DISCOUNTS, {"discount": 1500})

    assert asking.discount(shop, subtotal=2000, promo=300).amount == 1700
    assert asking.discount(shop, subtotal=2000, promo=2001).amount == 0


def test_customer_sees_300_characters_of_a_reason(shop: Business, hooking: Hooking) -> None:
    hooking(DISCOUNTS, {"discount": 1, "reason": "a" * 301})
    hooking(VALIDATE, {"valid": False, "reason": "b" * 301})

    assert asking.discount(shop) == Discount(1, "a" * 300)
    assert asking.verdict(shop).reason == "b" * 300

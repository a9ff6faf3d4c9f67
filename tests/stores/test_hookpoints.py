import time

import pytest

from extensions.hooks.descriptions import DESCRIPTIONS
from extensions.hooks.schemas import ANSWER_SCHEMAS, REQUEST_SCHEMAS
from stores.hookpoints import (
    DECLARATIONS,
    Discount,
    Flow,
    HookPoint,
    PaymentDetails,
    PaymentMethod,
    ShippingRate,
    ask_payment_methods,
    register,
    registered,
)


@pytest.mark.spec("Hook calls", "There are exactly five hook points")
def test_five_points_are_declared():
    assert {str(point) for point in DECLARATIONS} == {
        "checkout.payment_methods",
        "checkout.create_payment",
        "checkout.shipping_rates",
        "order.validate",
        "order.calculate_discounts",
    }


@pytest.mark.parametrize("table", [DESCRIPTIONS, REQUEST_SCHEMAS, ANSWER_SCHEMAS])
def test_every_point_is_described_and_has_its_schemas(table):
    assert set(table) == set(HookPoint) == set(DECLARATIONS)


def test_point_has_one_handler():
    with registered("checkout.payment_methods", None):
        register(HookPoint.PAYMENT_METHODS, lambda request: [])
        with pytest.raises(RuntimeError, match="handler already"):
            register("checkout.payment_methods", lambda request: [])


def test_unknown_point_is_refused():
    with pytest.raises(ValueError, match="gift_wrap"):
        register("checkout.gift_wrap", lambda request: None)


def test_filling_for_a_test_ends_with_it(shop):
    inner, outer = PaymentMethod("a:1", "Inner", "a"), PaymentMethod("b:1", "Outer", "b")
    with registered("checkout.payment_methods", lambda request: [outer]):
        with registered("checkout.payment_methods", lambda request: [inner]):
            assert ask_payment_methods(business=shop) == [inner]
        assert ask_payment_methods(business=shop) == [outer]
        with registered("checkout.payment_methods", None):
            assert ask_payment_methods(business=shop) == ()


def test_budget_runs_down_to_nothing():
    assert 9.9 < Flow.start().left <= 10
    assert Flow(time.monotonic() - 1).left == 0


@pytest.mark.parametrize("amount", [-1, 1.5, True, 2**53, None])
def test_amount_must_be_whole_minor_units(amount):
    with pytest.raises(ValueError, match="minor units"):
        ShippingRate(amount)
    with pytest.raises(ValueError, match="minor units"):
        Discount(amount)


@pytest.mark.parametrize("method_id", ["card", "pay:", "x" * 200 + ":y"])
def test_method_id_names_its_owner(method_id):
    with pytest.raises(ValueError, match="<owner>:<id>"):
        PaymentMethod(method_id, "Card", "pay")


def test_invoice_id_fits_its_column():
    with pytest.raises(ValueError, match="200"):
        PaymentDetails(invoice_id="x" * 201)

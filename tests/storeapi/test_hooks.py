"""What a shop's checkout asks apps: what they get, what the shop gets, and what is refused (contract, section 17, "Hooks")."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import ConnectedStore, User
from common import strangers
from common.web import limits
from extensions.models import ExtensionState, HookPreference
from installations.services.lifecycle import pause, uninstall
from stores.models import MirroredRow, Quote, ShopPayment
from tests import factories
from tests.hooking import Hooking, says
from tests.pages import main_words_of, signed_in
from tests.storeapi.checkouts import (
    DATA,
    DISCOUNTS,
    ITEMS,
    METHODS,
    PAYMENT,
    RATES,
    VALIDATE,
    ask,
    asked,
    pay,
    wallet,
)
from tests.storeapi.rows import MAIN, post, put, refusal
from tests.strangers import places_taken

pytestmark = [pytest.mark.django_db, pytest.mark.timed]

NEUTRAL = {
    METHODS: {"methods": []},
    PAYMENT: {"payment": None},
    RATES: {"fee": 350},
    VALIDATE: {"valid": True, "reason": None, "allHeard": True},
    DISCOUNTS: {"discount": 0, "reason": None},
}


@pytest.mark.parametrize("point", DATA)
def test_without_apps_the_answer_is_neutral(shop: Client, store: ConnectedStore, point: str) -> None:
    found = asked(shop, point)
    assert (found["answer"], found["parts"]) == (NEUTRAL[point], [])
    assert Quote.objects.filter(pk=found["quote"], business=store.pk).exists()
    assert not ShopPayment.objects.exists()


def test_app_is_asked_as_by_a_store_of_ours(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    """With our ids, which the rows have afterwards."""
    app = hooking(VALIDATE, {"valid": True}, business=store.business)
    asked(shop, VALIDATE)
    product_id = MirroredRow.objects.get(external_id="p-1").row_id
    call = app.asked()
    assert call["data"] == DATA[VALIDATE] | {"items": [{"productId": str(product_id), "quantity": 2}]}
    assert (call["hookPoint"], call["businessId"]) == (VALIDATE, str(store.pk))
    assert app.receiver.requests[0].headers["x-webhook-business-id"] == str(store.pk)
    assert put(shop, "products/p-1").json()["id"] == str(product_id)


def test_discounts_add_up_and_each_app_has_a_part(
    shop: Client, store: ConnectedStore, hooking: Hooking
) -> None:
    club = hooking(DISCOUNTS, {"discount": 250, "reason": "One in ten"}, business=store.business, priority=1)
    broken = hooking(DISCOUNTS, 500, business=store.business, priority=2)
    more = hooking(DISCOUNTS, {"discount": 800}, business=store.business, priority=3)
    found = asked(shop, DISCOUNTS)
    assert found["answer"] == {"discount": 900, "reason": "One in ten"}
    assert found["parts"] == [
        {"appId": str(club.app.pk), "name": club.app.name, "outcome": "ANSWERED", "amount": 250, "reason": "One in ten"},
        {"appId": str(broken.app.pk), "name": broken.app.name, "outcome": "FAILED", "amount": None, "reason": None},
        {"appId": str(more.app.pk), "name": more.app.name, "outcome": "ANSWERED", "amount": 650, "reason": None},
    ]  # fmt: skip


def test_refusal_says_who_refuses_and_why(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    silent = hooking(VALIDATE, 500, business=store.business, priority=1)
    strict = hooking(VALIDATE, {"valid": False, "reason": "Not there."}, business=store.business, priority=2)
    unasked = hooking(VALIDATE, {"valid": True}, business=store.business, priority=3)
    found = asked(shop, VALIDATE)
    assert found["answer"] == {"valid": False, "reason": "Not there.", "allHeard": False}
    outcomes = [(each["appId"], each["outcome"], each["reason"]) for each in found["parts"]]
    assert outcomes == [
        (str(silent.app.pk), "FAILED", None),
        (str(strict.app.pk), "ANSWERED", "Not there."),
    ]
    assert not unasked.receiver.requests


def test_last_fee_counts(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    hooking(RATES, {"fee": 100}, business=store.business, priority=1)
    hooking(RATES, {"fee": 0}, business=store.business, priority=2)
    found = asked(shop, RATES)
    assert found["answer"] == {"fee": 0}
    assert [each["amount"] for each in found["parts"]] == [100, 0]


def test_methods_are_named_by_their_app(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    app = hooking(METHODS, {"methods": [{"id": "w", "name": "Wallet"}]}, business=store.business)
    broken = hooking(METHODS, 500, business=store.business)
    found = asked(shop, METHODS)
    assert found["answer"]["methods"] == [
        {"id": f"{app.app.slug}:w", "name": "Wallet", "description": None, "icon": None}
    ]
    outcomes = [(each["appId"], each["outcome"]) for each in found["parts"]]
    assert outcomes == [(str(app.app.pk), "ANSWERED"), (str(broken.app.pk), "FAILED")]
    assert app.asked()["data"] == {"businessId": str(store.pk)}


@pytest.mark.parametrize("how", ["paused", "switched off", "uninstalled"])
def test_app_that_does_not_run_has_no_part(
    shop: Client, store: ConnectedStore, hooking: Hooking, how: str
) -> None:
    app = hooking(VALIDATE, {"valid": False}, business=store.business)
    paying, method = wallet(hooking, store.business)
    for each in (app, paying):
        match how:
            case "paused":
                pause(installation=each.installation, user=store.business.owner)
            case "switched off":
                ExtensionState.objects.create(
                    installation=each.installation, definition=each.definition, is_on=False
                )
            case _:
                uninstall(installation=each.installation)
    found = asked(shop, VALIDATE)
    assert (found["answer"]["valid"], found["parts"]) == (True, [])
    assert pay(shop, method) is None
    assert not app.receiver.requests
    assert not paying.receiver.requests


def test_cap_of_the_merchant_holds(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    app = hooking(DISCOUNTS, {"discount": 500}, business=store.business)
    HookPreference.objects.create(installation=app.installation, most_discount=10)
    assert asked(shop, DISCOUNTS)["answer"]["discount"] == 90


# --- Time --------------------------------------------------------------------------------------------


def test_checkout_goes_on_within_its_budget(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    hooking(DISCOUNTS, says({"discount": 1}, delay=5.0), business=store.business)
    began = time.monotonic()
    found = asked(shop, DISCOUNTS, budget=300)
    assert time.monotonic() - began < 1
    assert (found["answer"]["discount"], [each["outcome"] for each in found["parts"]]) == (0, ["FAILED"])


def test_three_points_of_one_quote_share_a_budget(
    shop: Client, store: ConnectedStore, hooking: Hooking
) -> None:
    """A new checkout has all of it, and so has this one after a minute."""
    hooking(VALIDATE, says({"valid": True}, delay=5.0), business=store.business)
    later = hooking(DISCOUNTS, {"discount": 100}, business=store.business)
    quote = asked(shop, VALIDATE, budget=400)["quote"]
    found = asked(shop, DISCOUNTS, quote, budget=400)
    assert (found["answer"]["discount"], found["parts"][0]["outcome"]) == (0, "SKIPPED")
    assert not later.receiver.requests
    assert asked(shop, DISCOUNTS, budget=400)["answer"]["discount"] == 100
    spent = Quote.objects.get(pk=quote)
    Quote.objects.filter(pk=quote).update(spent=[[at - 61, took] for at, took in spent.spent])
    assert asked(shop, DISCOUNTS, quote, budget=400)["answer"]["discount"] == 100


@pytest.fixture
def _two_places(settings: Any) -> Iterator[None]:
    settings.WEB_THREADS = 8
    strangers.bound.cache_clear()
    yield
    strangers.bound.cache_clear()


@pytest.mark.usefixtures("_two_places")
def test_without_a_place_hooks_are_skipped_and_the_log_says_so(
    shop: Client, store: ConnectedStore, hooking: Hooking, caplog: pytest.LogCaptureFixture
) -> None:
    hooking(VALIDATE, says({"valid": False}, delay=5.0), business=store.business)
    with places_taken():
        found = asked(shop, VALIDATE)
    assert found["answer"] == {"valid": True, "reason": None, "allHeard": False}
    assert [each["outcome"] for each in found["parts"]] == ["SKIPPED"]
    assert f"1 hooks of {VALIDATE} were skipped for want of places in store {store.pk}" in caplog.text


@pytest.mark.usefixtures("_two_places")
def test_operator_reads_how_many_were_skipped(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    app = hooking(VALIDATE, says({"valid": True}, delay=5.0), business=store.business)
    asked(shop, VALIDATE, budget=100)
    operator = signed_in(User.objects.create_superuser("olga@example.com", factories.PASSWORD))
    path = f"/admin/accounts/shopsystem/{store.system_id}/change/"
    assert "Hooks skipped" not in main_words_of(operator.get(path))
    with places_taken():
        asked(shop, VALIDATE)
    assert len(app.calls) == 2
    assert "Hooks skipped 1 in the last 24 hours" in main_words_of(operator.get(path))


@pytest.mark.usefixtures("_two_places")
@pytest.mark.parametrize("was_quick", [False, True])
def test_without_a_place_no_payment_is_made(
    shop: Client, store: ConnectedStore, hooking: Hooking, was_quick: bool
) -> None:
    """Neither of an app that is asked for the first time, nor of one that was quick until now."""
    app, method = wallet(hooking, store.business, says({}, delay=5.0))
    if was_quick:
        strangers.bound().remember(str(app.app.pk), PAYMENT, 0.01)
    with places_taken():
        response = ask(shop, PAYMENT, paymentMethodId=method)
    assert (response.status_code, response["X-Error-Code"]) == (503, "payment_method_busy")
    assert int(response["Retry-After"]) > 0
    assert not ShopPayment.objects.exists()
    assert len(app.receiver.requests) == was_quick
    assert shop.get(f"{MAIN}/payments/o-1").status_code == 404


# --- What is refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("point", "data", "field"),
    [
        (VALIDATE, {"businessId": "x"}, "data.businessId"),
        (METHODS, {"businessId": "x"}, "data.businessId"),
        (VALIDATE, {"items": [ITEMS[0] | {"price": 1}]}, "data.items[0].price"),
        (VALIDATE, {"items": [{"productId": "p 1", "quantity": 1}]}, "data.items[0].productId"),
        (VALIDATE, {"items": [{"productId": "p-1", "quantity": 0}]}, "data.items[0].quantity"),
        (VALIDATE, {"items": ITEMS * 501}, "data.items"),
        (VALIDATE, {"items": None}, "data.items"),
        (VALIDATE, {"subtotal": 1.5}, "data.subtotal"),
        (VALIDATE, {"subtotal": -1}, "data.subtotal"),
        (VALIDATE, {"subtotal": 2**53}, "data.subtotal"),
        (VALIDATE, {"deliveryMethod": "DRONE"}, "data.deliveryMethod"),
        (RATES, {"locality": "x\x00"}, "data.locality"),
        (PAYMENT, {"currency": "EUR"}, "data.currency"),
        (PAYMENT, {"currency": "usd"}, "data.currency"),
        *((PAYMENT, {"amount": each}, "data.amount") for each in ("0", "007", "", "1.5", "-1", "1\n", 900, "9" * 16, "١")),
        (PAYMENT, {"orderId": ".."}, "data.orderId"),
        (PAYMENT, {"description": "x" * 10_001}, "data.description"),
        (PAYMENT, {"paymentMethodId": "x" * 201}, "data.paymentMethodId"),
    ],
)  # fmt: skip
def test_bad_data_is_400_with_its_path(
    shop: Client, store: ConnectedStore, point: str, data: dict[str, Any], field: str
) -> None:
    assert refusal(ask(shop, point, **data)) == (400, [field])
    assert not MirroredRow.objects.exists()
    assert not Quote.objects.exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"budgetMs": 99}, "budgetMs"),
        ({"budgetMs": 10_001}, "budgetMs"),
        ({"quote": "a/b"}, "quote"),
        ({"quote": "x" * 2_001}, "quote"),
        ({"data": []}, "data"),
    ],
)
def test_bad_body_is_400(shop: Client, store: ConnectedStore, body: dict[str, Any], field: str) -> None:
    response = post(shop, f"hooks/{VALIDATE}", **{"data": DATA[VALIDATE]} | body)
    assert refusal(response)[0] == 400
    assert refusal(response)[1][0].startswith(field)


def test_unknown_point_and_unknown_store_are_404(shop: Client, store: ConnectedStore) -> None:
    assert post(shop, "hooks/order.refund", data={}).status_code == 404
    response = shop.post(
        "/store-api/stores/other/hooks/order.validate", {"data": DATA[VALIDATE]}, "application/json"
    )
    assert response.status_code == 404


def test_body_over_a_mebibyte_is_413(shop: Client, store: ConnectedStore) -> None:
    response = ask(shop, PAYMENT, description="x" * 2**20)
    assert response.status_code == 413


def test_hooks_have_a_rate_of_their_own(shop: Client, store: ConnectedStore, settings: Any) -> None:
    """Rows that are pushed stop no checkout, and the other way round."""
    settings.STORE_API_RATE = 2
    limits.counter.cache_clear()
    assert [put(shop, "products/p-1").status_code for _ in range(3)] == [200, 200, 429]
    answers = [ask(shop, RATES) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 429]
    assert [each["X-RateLimit-Remaining"] for each in answers] == ["1", "0", "0"]
    assert answers[2]["Retry-After"]


def test_another_stores_apps_are_not_asked(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    elsewhere = hooking(
        VALIDATE, {"valid": False}, business=factories.business(factories.merchant("m@example.com"))
    )
    assert asked(shop, VALIDATE)["parts"] == []
    assert not elsewhere.receiver.requests

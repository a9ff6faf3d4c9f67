"""Quotes: what apps answered before an order, which its row brings back (contract, section 17, "Hooks")."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ConnectedStore
from accounts.services import shops
from extensions.models import HookCall
from stores.connected import quotes
from stores.connected.stores import open_store
from stores.models import Order, OrderHookPart, Quote
from tests import factories
from tests.clients import client_of, shop_client
from tests.hooking import Hooked, Hooking
from tests.storeapi.checkouts import DISCOUNTS, PAYMENT, RATES, VALIDATE, asked, order, wallet
from tests.storeapi.rows import batched, post, put

pytestmark = [pytest.mark.django_db, pytest.mark.timed]

DISCOUNTED = {"subtotal": 9, "discount": 2.5, "amount": 6.5}


@pytest.fixture
def club(store: ConnectedStore, hooking: Hooking) -> Hooked:
    """An app that takes 2.50 off, and may read orders."""
    return hooking(DISCOUNTS, {"discount": 250, "reason": "One in ten"}, business=store.business)


@pytest.fixture
def quote(shop: Client, club: Hooked) -> str:
    """Of a checkout that asked whether the order is valid, then for discounts."""
    return str(asked(shop, DISCOUNTS, asked(shop, VALIDATE)["quote"])["quote"])


def test_order_takes_its_quote(shop: Client, quote: str, club: Hooked) -> None:
    """With the parts of the apps, and the calls of their log."""
    found = order(shop, quote, **DISCOUNTED)
    assert (found["result"], found["quote"], found["events"]) == ("created", "taken", ["order.created"])
    (record,) = client_of(club.installation).get("/app-api/orders").json()["data"]
    assert (record["validation"], record["discount"]) == ("VALID", 2.5)
    (part,) = OrderHookPart.objects.all()
    assert (str(part.order_id), part.point, part.amount, part.reason) == (
        found["id"],
        DISCOUNTS,
        250,
        "One in ten",
    )
    assert part.provider == str(club.app.pk)
    assert str(club.call.order_id) == found["id"]


def test_without_a_quote_an_order_is_not_validated(shop: Client, club: Hooked) -> None:
    assert "quote" not in order(shop)
    assert Order.objects.get().validation == "NOT_VALIDATED"


def test_quote_that_heard_not_all_validates_nothing(
    shop: Client, store: ConnectedStore, club: Hooked, hooking: Hooking
) -> None:
    hooking(VALIDATE, 500, business=store.business)
    assert order(shop, asked(shop, VALIDATE)["quote"])["quote"] == "taken"
    assert Order.objects.get().validation == "NOT_VALIDATED"


def test_quote_in_which_nobody_was_asked_for_a_verdict_validates_nothing(shop: Client, club: Hooked) -> None:
    assert order(shop, asked(shop, DISCOUNTS)["quote"], **DISCOUNTED)["quote"] == "taken"
    assert Order.objects.get().validation == "NOT_VALIDATED"


def test_refused_order_that_was_placed_is_not_validated(
    shop: Client, store: ConnectedStore, club: Hooked, hooking: Hooking
) -> None:
    hooking(VALIDATE, {"valid": False}, business=store.business)
    order(shop, asked(shop, VALIDATE)["quote"])
    assert Order.objects.get().validation == "NOT_VALIDATED"


def test_each_point_has_its_newest_answer(shop: Client, quote: str, club: Hooked) -> None:
    """The quote of before stays as it was."""
    newer = asked(shop, DISCOUNTS, quote, promoDiscount=100)["quote"]
    assert order(shop, newer, subtotal=9, discount=3.5, amount=5.5)["quote"] == "taken"
    assert OrderHookPart.objects.count() == 1
    assert order(shop, quote, "o-2", **DISCOUNTED)["quote"] == "taken"


@pytest.mark.parametrize(
    ("row", "differs"),
    [
        ({"subtotal": 9, "amount": 9}, {"discount": [250, 0]}),
        ({"subtotal": 9, "discount": 2.5, "deliveryFee": 3.5, "amount": 10}, None),
        ({"subtotal": 8, "discount": 2.5, "amount": 5.5}, {"subtotal": [900, 800]}),
    ],
)
def test_amounts_that_differ_are_kept_as_the_row_says(
    shop: Client, quote: str, row: dict[str, Any], differs: Any
) -> None:
    """A delivery fee that no app answered is the shop's own."""
    asked_for_rates = asked(shop, RATES, quote)["quote"]
    assert order(shop, asked_for_rates, **row)["quote"] == ("differs" if differs else "taken")
    assert Order.objects.get().amount == round(row["amount"] * 100)
    assert Quote.objects.get(pk=asked_for_rates).differs == differs


def test_fee_of_an_app_is_compared(shop: Client, store: ConnectedStore, quote: str, hooking: Hooking) -> None:
    hooking(RATES, {"fee": 100}, business=store.business)
    newest = asked(shop, RATES, quote)["quote"]
    row = {"subtotal": 9, "discount": 2.5, "deliveryFee": 3.5, "amount": 10}
    assert order(shop, newest, **row)["quote"] == "differs"
    assert Quote.objects.get(pk=newest).differs == {"deliveryFee": [100, 350]}


def test_quote_belongs_to_the_first_order_that_brings_it(shop: Client, quote: str) -> None:
    """Differing or not, and stays there: the same again says what it said, and a row without it takes nothing back."""
    assert order(shop, quote)["quote"] == "differs"
    assert order(shop, quote, "o-2", **DISCOUNTED)["quote"] == "ignored"
    assert Order.objects.get(external_id="o-2").validation == "NOT_VALIDATED"
    again = order(shop, quote)
    assert (again["result"], again["quote"]) == ("unchanged", "differs")
    assert "quote" not in order(shop, version=2, **DISCOUNTED)
    assert Order.objects.get(external_id="o-1").validation == "VALID"
    assert order(shop, quote, version=3, **DISCOUNTED)["quote"] == "differs"
    assert OrderHookPart.objects.count() == 1


@pytest.mark.parametrize("kind", ["unchanged", "stale"])
def test_quote_that_comes_after_its_row_is_taken(shop: Client, quote: str, club: Hooked, kind: str) -> None:
    """It is no content of the row: an outbox may send an old row again."""
    order(shop, version=2, **DISCOUNTED)
    before = Order.objects.get().updated_at
    found = order(shop, quote, version=2 if kind == "unchanged" else 1, **DISCOUNTED)
    assert (found["result"], found["quote"], found["events"]) == (kind, "taken", [])
    made = Order.objects.get()
    assert (made.validation, made.updated_at > before) == ("VALID", True)
    assert OrderHookPart.objects.count() == 1


def test_rows_of_a_batch_bring_quotes(shop: Client, quote: str) -> None:
    rows = [batched("orders", id_, **DISCOUNTED, quote=quote) for id_ in ("o-1", "o-2")]
    results = post(shop, "rows", rows=rows).json()["results"]
    assert [each["quote"] for each in results] == ["taken", "ignored"]
    assert Quote.objects.get(pk=quote).order.external_id == "o-1"


def test_order_that_nobody_wants_takes_no_quote(shop: Client, store: ConnectedStore) -> None:
    found = order(shop, asked(shop, VALIDATE)["quote"])
    assert (found["result"], found["quote"]) == ("unwanted", "ignored")
    assert Quote.objects.get().order is None


def test_refused_row_takes_no_quote(shop: Client, quote: str) -> None:
    order(shop)
    assert put(shop, "orders/o-1", 1, note="Other", quote=quote).status_code == 409
    assert Quote.objects.get(pk=quote).order is None


# --- Quotes that count for nothing --------------------------------------------------------------------


def test_late_quote_is_ignored(shop: Client, quote: str) -> None:
    """An hour after its newest call, for the row and for a call."""
    old = timezone.now() - quotes.GOOD_FOR
    Quote.objects.filter(pk=quote).update(asked_at=old)
    assert order(shop, quote, **DISCOUNTED)["quote"] == "ignored"
    assert Order.objects.get().validation == "NOT_VALIDATED"
    assert not OrderHookPart.objects.exists()
    newer = asked(shop, RATES, quote)["quote"]
    assert list(Quote.objects.get(pk=newer).answers) == [RATES]


@pytest.mark.parametrize("text", ["nothing", "0b32d1c7-a407-4cc3-9d6f-0d2f4c1f8a30", "x" * 2_000])
def test_forged_quote_is_ignored(shop: Client, club: Hooked, text: str) -> None:
    assert order(shop, text)["quote"] == "ignored"
    newer = asked(shop, VALIDATE, text)["quote"]
    assert list(Quote.objects.get(pk=newer).answers) == [VALIDATE]


@pytest.mark.parametrize("whose", ["of the same connection", "of another connection"])
def test_quote_of_another_store_is_ignored(
    shop: Client, connected: shops.Connected, quote: str, club: Hooked, whose: str
) -> None:
    """Also by a call, whose new quote holds nothing of it."""
    other = connected if whose == "of the same connection" else shops.connect(name="Contoso")
    store = open_store(system=other.system, external_id="second", values={"name": "S", "currency": "USD"})
    factories.installation(club.app, store.business)
    row = batched("orders", "o-1", **DISCOUNTED)["data"] | {"version": 1, "quote": quote}
    theirs = shop_client(other)
    path = "/store-api/stores/second"
    found = theirs.put(f"{path}/orders/o-1", row, content_type="application/json").json()
    assert (found["result"], found["quote"]) == ("created", "ignored")
    body = {"data": {}, "quote": quote}
    newer = theirs.post(f"{path}/hooks/checkout.payment_methods", body, "application/json").json()["quote"]
    assert list(Quote.objects.get(pk=newer).answers) == ["checkout.payment_methods"]
    assert order(shop, quote, **DISCOUNTED)["quote"] == "taken"


def test_another_store_learns_nothing_of_the_calls(
    shop: Client, store: ConnectedStore, quote: str, club: Hooked
) -> None:
    """A quote says nothing by itself, and two of one checkout can't be guessed from each other."""
    other = str(asked(shop, VALIDATE)["quote"])
    assert len({quote, other}) == 2
    assert all(Quote.objects.get(pk=each).pk.version == 4 for each in (quote, other))


def test_part_of_a_payment_comes_with_the_quote(
    shop: Client, store: ConnectedStore, quote: str, club: Hooked, hooking: Hooking
) -> None:
    paying, method = wallet(hooking, store.business)
    newest = asked(shop, PAYMENT, quote, paymentMethodId=method)["quote"]
    again = asked(shop, PAYMENT, newest, paymentMethodId=method)["quote"]
    assert order(shop, again, paymentMethod=method, **DISCOUNTED)["quote"] == "taken"
    points = list(OrderHookPart.objects.order_by("id").values_list("point", "provider"))
    assert sorted(points) == sorted([(DISCOUNTS, str(club.app.pk)), (PAYMENT, str(paying.app.pk))])


# --- What goes ---------------------------------------------------------------------------------------


def test_quotes_that_no_order_took_go(shop: Client, quote: str) -> None:
    order(shop, quote, **DISCOUNTED)
    asked(shop, VALIDATE)
    assert quotes.remove_old(now=timezone.now() + timedelta(minutes=61)) == 0
    assert quotes.remove_old(now=timezone.now() + timedelta(minutes=121)) == 2
    assert str(Quote.objects.get().pk) == quote


def test_erased_customer_is_in_no_quote(shop: Client, store: ConnectedStore, hooking: Hooking) -> None:
    hooking(DISCOUNTS, {"discount": 250, "reason": "For Kim Lee, as always"}, business=store.business)
    quote = asked(shop, DISCOUNTS)["quote"]
    customer = {"customer": {"name": "Kim Lee", "email": "kim@example.com"}}
    assert order(shop, quote, **DISCOUNTED, **customer)["quote"] == "taken"
    later = asked(shop, DISCOUNTS)["quote"]
    assert post(shop, "customers/erase", email="kim@example.com").status_code == 202
    assert OrderHookPart.objects.get().reason == ""
    assert order(shop, later, version=2, note="Ring", **DISCOUNTED, **customer)["quote"] == "taken"
    kept = [str(row) for model in (Quote, OrderHookPart) for row in model.objects.values()]
    assert "Kim" not in str(kept)
    assert order(shop, quote, version=2, note="Ring", **DISCOUNTED, **customer)["quote"] == "taken"


def test_calls_of_other_quotes_belong_to_no_order(shop: Client, quote: str, club: Hooked) -> None:
    asked(shop, DISCOUNTS)
    found = order(shop, quote, **DISCOUNTED)
    of_order = HookCall.objects.filter(order_id=found["id"])
    assert of_order.count() == 1
    assert HookCall.objects.count() == 2

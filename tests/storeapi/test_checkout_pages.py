"""What people read of a checkout elsewhere: merchants on **Apps** and an app's **History**, its developer in the thread."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import ConnectedStore, User
from extensions.models import HookCall
from merchants.frame import DIFFERENT_FOR, StoreApps, changed
from stores.models import Quote, ShopPayment
from tests.hooking import Hooked, Hooking
from tests.pages import main_words_of, signed_in
from tests.storeapi.checkouts import DISCOUNTS, RATES, VALIDATE, asked, order, pay, wallet
from tests.storeapi.people import person_in

pytestmark = [pytest.mark.django_db, pytest.mark.timed]

APPS = "/merchant/apps/"


@pytest.fixture
def club(store: ConnectedStore, hooking: Hooking) -> Hooked:
    return hooking(DISCOUNTS, {"discount": 250, "reason": "One <b>in ten"}, business=store.business)


@pytest.fixture
def merchant(store: ConnectedStore) -> Client:
    return signed_in(person_in(store.business, StoreRole.OWNER))


def test_order_that_differs_is_a_concern(
    shop: Client, store: ConnectedStore, club: Hooked, hooking: Hooking, merchant: Client
) -> None:
    """With its number and both amounts, for seven days."""
    hooking(RATES, {"fee": 100}, business=store.business)
    _, method = wallet(hooking, store.business)
    pay(shop, method, amount="800")
    assert "differ" not in main_words_of(merchant.get(APPS))
    quote = asked(shop, RATES, asked(shop, DISCOUNTS)["quote"])["quote"]
    order(shop, quote, orderNumber="77", deliveryFee=3.5, amount=12.5)
    page = main_words_of(merchant.get(APPS))
    assert (
        "Order 77 has another discount than apps gave With the apps’ it would be $2.50; in the order it is $0.00."
        in page
    )
    assert (
        "Order 77 has another delivery fee than an app set The app set $1.00; in the order it is $3.50."
        in page
    )
    assert (
        "The payment of order 77 is for another amount The payment is for $8.00; the order’s total is $12.50."
        in page
    )
    assert "Order 77 has another discount" in main_words_of(merchant.get("/merchant/notices/"))
    old = timezone.now() - DIFFERENT_FOR - timedelta(minutes=1)
    Quote.objects.update(asked_at=old)
    ShopPayment.objects.update(opened_at=old)
    assert "Order 77" not in main_words_of(merchant.get(APPS))


def test_order_as_apps_said_is_no_concern(shop: Client, club: Hooked, merchant: Client) -> None:
    order(shop, asked(shop, DISCOUNTS)["quote"], subtotal=9, discount=2.5, amount=6.5)
    assert "Order 1001" not in main_words_of(merchant.get(APPS))


def test_concern_is_counted_in_the_navigation(
    shop: Client, store: ConnectedStore, club: Hooked, merchant: Client
) -> None:
    """As the concerns of apps are."""
    assert StoreApps(store.business).frame.concerns == 0
    order(shop, asked(shop, DISCOUNTS)["quote"])
    changed(store.pk)
    assert StoreApps(store.business).frame.concerns == 1


def test_history_of_an_app_has_its_part_in_orders(
    shop: Client, store: ConnectedStore, club: Hooked, hooking: Hooking, merchant: Client
) -> None:
    """Not the parts of others."""
    checker = hooking(VALIDATE, 500, business=store.business)
    quote = asked(shop, DISCOUNTS, asked(shop, VALIDATE)["quote"])["quote"]
    order(shop, quote, subtotal=9, discount=2.5, amount=6.5)
    of_club = main_words_of(merchant.get(f"{APPS}{club.installation.pk}/activity/"))
    assert "Gave a discount" in of_club
    assert "Order 1001 · Not validated · $2.50" in of_club
    assert "One <b>in ten" in of_club
    of_checker = main_words_of(merchant.get(f"{APPS}{checker.installation.pk}/activity/"))
    assert "Failed when asked to check the order" in of_checker
    assert "$2.50" not in of_checker


def test_thread_has_the_order_and_the_part(
    shop: Client, store: ConnectedStore, club: Hooked, dana: User, hooking: Hooking
) -> None:
    quote = asked(shop, DISCOUNTS, asked(shop, VALIDATE)["quote"])["quote"]
    developer = signed_in(dana)
    path = f"/portal/apps/{club.app.slug}/threads/{HookCall.objects.get().request_id}/"
    assert "Order 1001" not in main_words_of(developer.get(path))
    order(shop, quote, subtotal=9, discount=2.5, amount=6.5)
    assert "Order 1001, validated: $2.50. One <b>in ten" in main_words_of(developer.get(path))

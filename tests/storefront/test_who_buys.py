"""The person who buys, as apps get to know them: one key for one person at one installation, and what proves it (contract, section 23, "Who buys")."""

import re
from datetime import timedelta
from typing import Any

import jwt
import pytest
import time_machine
from django.utils import timezone

from accounts.models import Business, User
from installations.services import lifecycle
from stores.models import Order
from stores.models import Shopper as Person
from stores.tasks import remove_old_carts
from tests import factories
from tests.clients import client_of
from tests.hooking import Hooked, Hooking
from tests.merchants.erasing import erase
from tests.odd_contacts import EMAILS, PHONES
from tests.pages import signed_in
from tests.storefront.shopping import Shopper, text

SPEC = "Contract 23 What an order tells"
DISCOUNTS, METHODS = "order.calculate_discounts", "checkout.payment_methods"
KEY = re.compile(r"shp_[0-9a-f]{32}")
LINK = re.compile(r"http://\S+/orders/([^/\s]+)/")


@pytest.fixture
def stamps(hooking: Hooking) -> Hooked:
    return hooking(DISCOUNTS, {"discount": 0})


@pytest.fixture
def points(hooking: Hooking) -> Hooked:
    return hooking(DISCOUNTS, {"discount": 0})


def order(shop: Business, shopper: Shopper | None = None, **fields: Any) -> Order:
    shopper = shopper or Shopper(shop)
    shopper.take(factories.product(shop))
    assert shopper.place(**fields).status_code == 302
    return Order.objects.latest("id")


def told(app: Hooked) -> dict[str, Any]:
    """What the newest call of the hook said about the shopper."""
    found: dict[str, Any] = app.asked(-1)["shopper"]
    return found


@pytest.mark.spec(
    SPEC, "key is shp_ and 128 bits, the same for one person at one installation, another at every other"
)
def test_person_has_one_key_at_each_installation(shop: Business, stamps: Hooked, points: Hooked) -> None:
    order(shop)
    first = told(stamps)
    assert KEY.fullmatch(first["key"])
    assert first["proven"] is False
    order(shop)
    assert told(stamps) == first
    assert told(points)["key"] != first["key"]
    order(shop, customer_email="ada@example.com")
    assert told(stamps)["key"] != first["key"]
    records = client_of(stamps.installation).get("/app-api/orders").json()["data"]
    keys = [each["customer"]["key"] for each in records]
    assert keys == [told(stamps)["key"], first["key"], first["key"]]
    one = client_of(points.installation).get(f"/app-api/orders/{records[0]['id']}").json()
    assert one["customer"]["key"] == told(points)["key"]


@pytest.mark.spec(
    SPEC, "A person is what section 12 says: every spelling of an address or number is one person"
)
def test_spellings_are_one_person(shop: Business, stamps: Hooked) -> None:
    product, api = factories.product(shop, stock=None), client_of(stamps.installation)

    def key_of(**contact: str) -> str:
        body = {
            "items": [{"productId": str(product.pk), "quantity": 1}],
            "customer": {"name": "Kim"} | contact,
            "deliveryMethod": "PICKUP",
            "paymentMethod": "CASH",
        }
        answer = api.post("/app-api/orders", body, content_type="application/json")
        assert answer.status_code == 201, answer.content
        found: str = answer.json()["customer"]["key"]
        assert told(stamps) == {"key": found, "proven": False}
        return found

    typed = [each.strip() for each in EMAILS[:10]]
    assert len({key_of(email=each) for each in typed}) == 1
    assert len({key_of(phone=each) for each in PHONES[:10]}) == 1
    assert key_of(email=typed[0], phone=PHONES[0]) == key_of(email=typed[0])
    assert Person.objects.count() == 2


@pytest.mark.spec(
    SPEC,
    "Every hook but checkout.payment_methods carries shopper; null without read_orders, granted and approved",
)
def test_shopper_is_for_apps_that_may_read_orders(
    shop: Business, hooking: Hooking, stamps: Hooked, points: Hooked
) -> None:
    methods = hooking(METHODS, {"methods": []})
    points.installation.granted_scopes = ["write_orders"]
    points.installation.save()
    order(shop)
    assert told(stamps)["key"]
    assert points.asked(-1)["shopper"] is None
    assert "shopper" not in methods.asked(-1)
    assert methods.asked(-1)["attributes"] == {}
    version = stamps.installation.runs
    assert version
    version.scopes = ["write_orders"]  # of the approved ones it is none
    version.save()
    order(shop)
    assert stamps.asked(-1)["shopper"] is None


@pytest.mark.spec(
    SPEC, "A person is the address typed, else the phone number, else that of the session's last order"
)
def test_total_knows_who_typed_and_who_ordered_before(shop: Business, stamps: Hooked) -> None:
    kim, ada = Shopper(shop), Shopper(shop)
    order(shop, kim)
    of_kim = told(stamps)["key"]
    kim.take(factories.product(shop))

    def total(**typed: str) -> Any:
        page = kim.checkout_page() | {"total": "1", "delivery_method": "PICKUP"} | typed
        assert kim.post(kim.at("checkout/"), page).status_code == 200
        return stamps.asked(-1)["shopper"]

    assert total() == {"key": of_kim, "proven": False}
    order(shop, ada, customer_email="ada@example.com")
    of_ada = told(stamps)["key"]
    assert total(customer_email="ADA@example.com")["key"] == of_ada
    assert total(customer_email="ada@", customer_phone="+1 555 0100")["key"] not in (of_ada, of_kim)
    stranger = Shopper(shop)
    stranger.take(factories.product(shop))
    page = stranger.checkout_page() | {"total": "1", "delivery_method": "PICKUP"}
    stranger.post(stranger.at("checkout/"), page)
    assert stamps.asked(-1)["shopper"] is None


@pytest.mark.spec(SPEC, "The key is another after an erasure, and that of the old orders is null")
@pytest.mark.spec(SPEC, "The key is another after a new install")
def test_erasure_and_a_new_install_make_another_key(shop: Business, stamps: Hooked) -> None:
    old = order(shop)
    before = told(stamps)["key"]
    Order.objects.update(status="DELIVERED")
    erase(signed_in(shop.owner), "kim@example.com")
    assert not Person.objects.exists()
    order(shop)
    after = told(stamps)["key"]
    assert after != before
    api = client_of(stamps.installation)
    assert api.get(f"/app-api/orders/{old.pk}").json()["customer"]["key"] is None
    lifecycle.uninstall(installation=stamps.installation, by=shop.owner)
    factories.installation(stamps.app, shop)
    order(shop)
    assert told(stamps)["key"] not in (before, after)


@pytest.mark.spec(SPEC, "The seed goes after 90 days without an order")
def test_seed_goes_after_90_days(shop: Business, stamps: Hooked) -> None:
    order(shop)
    before = told(stamps)["key"]
    for days, count in ((89, 1), (91, 0)):
        with time_machine.travel(timezone.now() + timedelta(days=days)):
            remove_old_carts()
        assert Person.objects.count() == count
    order(shop)
    assert told(stamps)["key"] != before


# --- What proves it -------------------------------------------------------------------------------------


@pytest.fixture
def mailed(shop: Business, stamps: Hooked, mails_leave_at_once: None, mailoutbox: list[Any]) -> Any:
    """Places an order in a browser. Returns the key of the link that was mailed."""

    def place(shopper: Shopper, **fields: Any) -> str:
        order(shop, shopper, **fields)
        [key] = LINK.findall(mailoutbox[-1].body)
        return str(key)

    return place


def press(shopper: Shopper, key: str) -> str:
    """What the page says after **This is my order**."""
    response = shopper.post(shopper.at(f"orders/{key}/mine/"))
    assert response.status_code == 302
    return text(shopper.get(response["Location"]))


THANKS, USED = "knows you in this browser", "too old, or was used before"
BUTTON = "This is my order"


@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(
    SPEC, "proven only where this session was the first to press This is my order behind the mailed link"
)
@pytest.mark.spec(SPEC, "Looking at the page behind the link doesn't prove")
def test_link_proves_once_and_by_a_press_alone(shop: Business, stamps: Hooked, mailed: Any) -> None:
    kim, other = Shopper(shop), Shopper(shop)
    key = mailed(kim)
    for scanner in (Shopper(shop), kim):
        assert BUTTON in scanner.see(f"orders/{key}/")
        scanner.head(scanner.at(f"orders/{key}/"))
    order(shop, kim)
    assert told(stamps)["proven"] is False
    assert THANKS in press(kim, key)
    assert BUTTON not in kim.see(f"orders/{key}/")
    assert USED in press(other, key)
    order(shop, kim)
    assert told(stamps)["proven"] is True
    order(shop, kim, customer_email="ada@example.com")
    assert told(stamps)["proven"] is False
    order(shop, other)
    assert told(stamps)["proven"] is False


@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(
    SPEC, "The link is one of its own: the page that a browser was led to after the order doesn't prove"
)
def test_page_of_the_checkout_proves_nothing(shop: Business, stamps: Hooked, mailed: Any) -> None:
    kim = Shopper(shop)
    mailed(kim)
    own = kim.place(kim.checkout_page() if kim.take(factories.product(shop)) else None)["Location"]
    key = own.rstrip("/").rpartition("/")[2]
    assert BUTTON not in kim.see(f"orders/{key}/")
    assert USED in press(kim, key)


@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(SPEC, "Within seven days")
def test_link_proves_for_seven_days(shop: Business, stamps: Hooked, mailed: Any) -> None:
    kim = Shopper(shop)
    key = mailed(kim)
    with time_machine.travel(timezone.now() + timedelta(days=7, minutes=1)):
        assert BUTTON not in kim.see(f"orders/{key}/")
        assert USED in press(kim, key)
    with time_machine.travel(timezone.now() + timedelta(days=6, hours=23)):
        assert THANKS in press(kim, key)


@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(SPEC, "The newest decides; proven where that address is the one typed")
def test_newest_link_decides(shop: Business, stamps: Hooked, mailed: Any) -> None:
    kim = Shopper(shop)
    first, second = mailed(kim), mailed(kim, customer_email="ada@example.com")
    press(kim, first)
    press(kim, second)
    order(shop, kim)
    assert told(stamps)["proven"] is False
    order(shop, kim, customer_email="ada@example.com")
    assert told(stamps)["proven"] is True


@pytest.mark.django_db(transaction=True)
@pytest.mark.spec("Contract 20 One key for who is looking", "shopper only where it is proven")
def test_token_of_a_block_names_a_proven_shopper(
    shop: Business, stamps: Hooked, points: Hooked, mailed: Any
) -> None:
    points.installation.granted_scopes = ["write_orders"]
    points.installation.save()
    kim, phone = Shopper(shop), Shopper(shop)

    def claims(shopper: Shopper, app: Hooked) -> dict[str, Any]:
        tokens = shopper.get(
            shopper.at("session-tokens/"), {"app": app.app.slug}, headers={"accept": "application/json"}
        ).json()["tokens"]
        found: dict[str, Any] = jwt.decode(
            tokens[app.app.slug],
            app.installation.webhook_secret,
            algorithms=["HS256"],
            audience=f"{app.app.client_id}/storefront",
        )
        return found

    key = mailed(kim)
    of_kim = told(stamps)["key"]
    assert "shopper" not in claims(kim, stamps)
    press(phone, key)  # the mail is read on another device
    assert claims(phone, stamps)["shopper"] == {"key": of_kim, "proven": True}
    assert "shopper" not in claims(phone, points)
    assert "shopper" not in claims(kim, stamps)
    order(shop, phone, customer_email="ada@example.com")
    assert "shopper" not in claims(phone, stamps)


@pytest.mark.spec(SPEC, "On sandboxes and test stores the order's page has Open as from the mail")
def test_test_store_opens_the_page_as_from_the_mail(sandbox: Business, dana: User, hooking: Hooking) -> None:
    stamps = hooking(DISCOUNTS, {"discount": 0}, business=sandbox)
    kim = Shopper(sandbox)
    kim.take(factories.product(sandbox))
    page = kim.place()["Location"]
    assert "Open as from the mail" in text(kim.get(page))
    opened = kim.post(f"{page}from-mail/")
    assert BUTTON in text(kim.get(opened["Location"]))
    key = opened["Location"].rstrip("/").rpartition("/")[2]
    assert THANKS in press(kim, key)
    order(sandbox, kim)
    assert told(stamps)["proven"] is True


def test_store_that_mails_has_no_such_way(shop: Business) -> None:
    kim = Shopper(shop)
    kim.take(factories.product(shop))
    page = kim.place()["Location"]
    assert "Open as from the mail" not in text(kim.get(page))
    assert kim.post(f"{page}from-mail/").status_code == 404

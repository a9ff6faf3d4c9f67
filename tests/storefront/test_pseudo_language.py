"""Everything that a store says to its shoppers can be translated: read in `en-XA`, no plain English is left."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from email.header import decode_header, make_header
from itertools import count
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from accounts.models import Business, User
from common.languages import PSEUDO
from extensions.enums import ExtensionType
from extensions.models import Definition
from extensions.services.extension_states import add_block
from stores.addresses import order_key
from stores.enums import DeliveryMethod, OrderStatus, PaymentStatus
from stores.hookpoints import OrderVerdict, PaymentMethod, registered
from stores.models import Order, Product, Review, StoreSettings
from stores.services.history import SYSTEM
from stores.services.orders import change_order_status, record_refund
from stores.services.pages import create_page
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app
from tests.storefront.plain_words import plain_words, said_on
from tests.storefront.shopping import Shopper, hidden
from tests.wire.pages import STORES, routes

pytestmark = pytest.mark.usefixtures("stopped_clock")

WALLET = PaymentMethod("pay:wallet", "Πορτοφόλι", "pay", "Με το τηλέφωνο.")
_NUMBERS = count()
CROSS_SITE = {"sec-fetch-site": "cross-site"}


@pytest.fixture
def shop(shop: Business, settings: Any) -> Business:
    settings.LANGUAGES = [*settings.LANGUAGES, (PSEUDO, "Pseudo-language")]
    shop.name, shop.locale, shop.address = "Φούρνος", PSEUDO, "Οδός 1"
    shop.save()
    StoreSettings.objects.create(business=shop, tagline="Ψωμί", hero_text="Καλημέρα")
    return shop


@pytest.fixture
def bread(shop: Business) -> Product:
    return factories.product(shop, name="Ψωμί", slug="bread", category="Ψωμιά", description="Καλό", stock=9)


class Reading(Shopper):
    """A shopper who reads every page to the end."""

    def __init__(self, shop: Business) -> None:
        super().__init__(shop)
        self.found: set[str] = set()
        self.visited: set[str] = set()

    def request(self, **request: Any) -> Any:
        response = super().request(**request)
        if match := response.wsgi_request.resolver_match:
            self.visited.add(match.view_name)
        if response.headers.get("Content-Type", "").startswith("text/html"):
            self.found |= plain_words(said_on(response.content.decode()))
        return response

    def place(self, page: dict[str, str] | None = None, **fields: Any) -> Any:
        return super().place(page, **({"customer_name": "Κ"} | fields))

    def read(self, path: str, status: int = 200) -> Any:
        response = self.get(self.at(path))
        assert response.status_code == status, path
        return response


@pytest.fixture
def shopper(shop: Business) -> Iterator[Reading]:
    reading = Reading(shop)
    yield reading
    assert reading.found == set()


# --- Pages ------------------------------------------------------------------------------------------


def look_around(shopper: Reading, shop: Business, bread: Product, **_: Any) -> None:
    shopper.read("?category=Ψωμιά")
    for query in ("", "?q=Ψωμί", "?q=Ψωμί&category=Ψωμιά", "?q=Ωω", "?category=Ωω", "?page=2", "?sort=price"):
        shopper.read(query)
    for number in range(25):
        factories.product(shop, name=f"Ω{number}", slug=f"o{number}", category="Ψωμιά")
    factories.product(shop, name="Α", slug="few", category="", stock=2)
    factories.product(shop, name="Β", slug="out", category="", stock=0)
    factories.product(shop, name="Γ", slug="no", category="", is_available=False)
    for path in ("", "?page=2", "products/few/", "products/out/", "products/no/"):
        shopper.read(path)
    Business.objects.update(is_sandbox=True)
    shopper.read("")
    Product.objects.all().delete()
    shopper.read("")


def review(shopper: Reading, shop: Business, bread: Product, **_: Any) -> None:
    address = shopper.at("products/bread/reviews/")
    shopper.read("products/bread/")
    for wrong in (
        {},
        {"rating": "9", "author_name": "Κ"},
        {"rating": "5", "author_name": "Κ", "comment": "Κ" * 2001},
    ):
        assert shopper.post(address, wrong).status_code == 422
    for _number in range(30):
        shopper.post(address, {"rating": "4", "author_name": "Κ", "comment": "Ωραίο"})
    shopper.read("products/bread/")
    assert shopper.post(address, {"rating": "4", "author_name": "Κ"}).status_code == 429
    for page in (2, 9):
        shopper.read(f"products/bread/?page={page}")
    Review.objects.all().delete()
    factories.product(shop, name="Ω", slug="other", category="Ψωμιά")
    shopper.read("products/bread/")


def site_pages(shopper: Reading, shop: Business, dana: Any, **_: Any) -> None:
    about = create_page(business=shop, title="Εμείς", slug="about", content="<p>Ψωμί</p>")
    app = listed_app(dana, ["read_orders"], name="Αστέρια", slug="stars")
    define(app, ExtensionType.BLOCK, "stars", renderUrl="https://apps.example.com/block", name="Κουτί")
    block = Definition.objects.get(type=ExtensionType.BLOCK)
    add_block(page=about, installation=installed(app, shop), definition=block, settings={})
    assert b"<iframe" in shopper.read("pages/about/").content
    attributes = {"app": block.app.slug, "attributes": {"slot": "9"}}
    assert shopper.post(shopper.at("cart/attributes/"), attributes, "application/json").status_code == 200
    shopper.read("pages/nothing/", 404)


def fill_the_cart(shopper: Reading, shop: Business, bread: Product, **_: Any) -> None:
    shopper.read("cart/")
    for quantity in ("", "x", "0", "1000", "10"):
        assert shopper.take(bread, quantity).status_code == 422
    shopper.take(bread, 1)
    shopper.read("products/bread/")  # says that it was added
    assert shopper.take(bread, 9).status_code == 422
    others = [
        factories.product(shop, name=f"Ω{number}", slug=f"o{number}", category="", stock=9)
        for number in range(4)
    ]
    for each in others:
        shopper.take(each, 9)
    shopper.read("cart/")
    shopper.post(shopper.at("cart/change/"), {f"quantity-{bread.pk}": "x"})
    shopper.read("cart/")
    for each, change in zip(
        others, ({"stock": 0}, {"stock": 1}, {"is_available": False}, {"status": "ARCHIVED"}), strict=True
    ):
        Product.objects.filter(pk=each.pk).update(**change)
    Product.objects.filter(pk=bread.pk).delete()
    shopper.read("cart/")
    shopper.post(shopper.at("cart/remove/"), {"product": str(bread.pk)})


def check_out(shopper: Reading, shop: Business, bread: Product, monkeypatch: Any, **_: Any) -> None:
    shopper.take(bread, 2)
    with registered("checkout.payment_methods", lambda request: [WALLET]):
        page = shopper.checkout_page()
        shopper.place(
            page, customer_name="", customer_email="x", delivery_method="DELIVERY", payment_method=""
        )
        shopper.place(page, customer_email="", payment_method="-", delivery_method="-")
        shopper.place(page, total="1", delivery_method="DELIVERY")
        shopper.place(page, seen="1")
        with registered("order.validate", lambda request: OrderVerdict(valid=False, reason="")):
            assert shopper.place(page).status_code == 422
        shopper.post(shopper.at("checkout/"), page | {"total": "1"}, headers={"x-part": "sums"})
        monkeypatch.setattr("storefront.views.access.ASKED_PER_MINUTE", 1)
        shopper.read("checkout/")
        assert shopper.place(page).status_code == 429
        shopper.read("checkout/", 429)
        monkeypatch.setattr("storefront.views.access.ASKED_PER_MINUTE", 1000)
        Product.objects.update(stock=1)
        assert shopper.place(page).status_code == 409
        Product.objects.update(stock=9)
        placed = shopper.place(page, payment_method="pay:wallet")  # no app makes it: it fails
        path = placed["Location"].removeprefix(shopper.at(""))
        shopper.read(path)
        pay = hidden(shopper.read(f"{path}pay/"))
        assert shopper.post(shopper.at(f"{path}pay/"), pay).status_code == 422
        shopper.read(f"{path}state/")
        shopper.post(shopper.at(f"{path}pay/"), pay | {"payment_method": "CASH"})
        shopper.post(shopper.at(f"{path}pay/"), pay | {"payment_method": "CASH"})
        shopper.read(path)
        shopper.post(shopper.at(f"{path}again/"))
        for button in ("mine", "from-mail"):  # not behind this link
            shopper.post(shopper.at(f"{path}{button}/"))
        shopper.place(page | {"key": "x"})
        shopper.read("cart/")


def orders(shopper: Reading, shop: Business, bread: Product, **_: Any) -> None:
    """Every status with every payment, for both ways to get it."""
    now = timezone.now()
    details = {"payment_url": "https://pay.example.com/", "qr_code": "12", "invoice_id": "7"}
    payments: list[dict[str, Any] | None] = [None, *({"status": status} for status in PaymentStatus)]
    payments += [details | {"expires_at": now + timedelta(hours=1)}, {"qr_code": "1"}, {"expires_at": now}]
    payments += [{"updated_at": now + timedelta(seconds=1)}]
    for status in OrderStatus:
        for number, payment in enumerate(payments):
            method = list(DeliveryMethod)[number % 2]
            _order_page(shopper, shop, status, method, payment)
    for status in OrderStatus:
        for way in ("CASH", "CARD", "pay:wallet"):
            for method in DeliveryMethod:
                _order_page(
                    shopper, shop, status, method, None, payment_method=way, note="Γεια", customer_email=""
                )
    paid = factories.order(shop, customer_name="Κ", status=OrderStatus.DELIVERED, page_key_digest="paid")
    record_refund(order=paid, amount=500, reason="Συγγνώμη", known=0, by=SYSTEM)
    shopper.read(f"orders/{order_key(paid.pk)}/")
    Order.objects.filter(pk=paid.pk).update(status=OrderStatus.CANCELLED)
    factories.payment(paid, status=PaymentStatus.COMPLETED)
    shopper.read(f"orders/{order_key(paid.pk)}/")


def _order_page(
    shopper: Reading, shop: Business, status: str, method: str, payment: dict[str, Any] | None, **fields: Any
) -> None:
    names = {"customer_name": "Κ", "address": "Οδός 2", "status": status, "delivery_method": method}
    order = factories.order(shop, page_key_digest=str(next(_NUMBERS)), **names, **fields)
    if payment is not None:
        factories.payment(order, **payment)
    shopper.read(f"orders/{order_key(order.pk)}/")


def costs(shopper: Reading, **_: Any) -> None:
    address = shopper.at("app-costs/")
    answers = [
        shopper.post(address, {"apps": []}, content_type="application/json").status_code
        for _number in range(12)
    ]
    assert answers[-1] == 429


STATES: list[Callable[..., None]] = [look_around, review, site_pages, fill_the_cart, check_out, orders, costs]


@pytest.mark.long
def test_no_page_has_a_plain_word(
    shop: Business, shopper: Reading, bread: Product, dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for state in STATES:
        Product.objects.all().delete()
        bread.save(force_insert=True)
        shopper.cookies.clear()
        state(shopper=shopper, shop=shop, bread=bread, dana=dana, monkeypatch=monkeypatch)
    wanted = {
        route.name for route in routes() if route.host == STORES and route.name.startswith("storefront:")
    }
    wordless = {"storefront:visit", "storefront:session_tokens"}
    assert shopper.visited >= wanted - wordless


# --- Errors -----------------------------------------------------------------------------------------


def _failing(error: Exception) -> Callable[..., Any]:
    def fail(*_: Any, **__: Any) -> Any:
        raise error

    return fail


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("nothing/here/", 404),
        ("products/nothing/", 404),
        ("orders/nothing/", 404),
        ("?page=x", 400),
        ("?q=%00", 400),
        ("products/bread/add/", 405),
    ],
)
def test_no_refusal_has_a_plain_word(shopper: Reading, bread: Product, path: str, status: int) -> None:
    shopper.raise_request_exception = False
    answer = shopper.read(path, status)
    shopper.found = {
        each for each in shopper.found if not each.startswith(("page: page: ", "q: q: "))
    }  # names of parameters
    assert f'<html lang="{PSEUDO.lower()}"' in answer.content.decode()


def test_no_refused_form_has_a_plain_word(shopper: Reading, bread: Product) -> None:
    address = shopper.at("products/bread/add/")
    form = "application/x-www-form-urlencoded"
    assert shopper.post(address, {"quantity": "1"}, headers=CROSS_SITE).status_code == 403
    assert shopper.post(address, "quantity=%E9", content_type=form).status_code == 415
    assert shopper.post(address, "quantity=" + "%41" * 100_001, content_type=form).status_code == 413
    assert shopper.post(address, "quantity=%00", content_type=form).status_code < 500


@pytest.mark.parametrize(
    ("error", "status"), [(RuntimeError("x"), 500), (OperationalError("x"), 503), (OSError(28, "x"), 503)]
)
def test_no_failure_has_a_plain_word(
    shopper: Reading, error: Exception, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    shopper.raise_request_exception = False
    monkeypatch.setattr("storefront.views.catalogue.subtotal", _failing(error))
    shopper.read("cart/", status)


def test_page_without_a_database_is_in_the_language_that_was_spoken_before(
    shopper: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    shopper.raise_request_exception = False
    shopper.read("cart/")
    monkeypatch.setattr("storefront.middleware._stores", _failing(OperationalError("gone")))
    shopper.read("cart/", 503)


def test_closed_store_has_no_plain_word(shop: Business, shopper: Reading) -> None:
    User.objects.filter(pk=shop.owner_id).update(deleted_at=timezone.now())
    shopper.read("", 404)


# --- Mails ------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("tasks_run_at_once")
@pytest.mark.parametrize("method", DeliveryMethod)
def test_no_mail_to_a_buyer_has_a_plain_word(
    shop: Business,
    shopper: Reading,
    bread: Product,
    method: str,
    mailoutbox: Any,
    django_capture_on_commit_callbacks: Any,
) -> None:
    shop.owner.store_notices = {"new_orders": "off"}
    shop.owner.save()
    shopper.take(bread, 2)
    where = {"delivery_method": method, "address": "Οδός 3", "customer_email": "kim@example.com"}
    with django_capture_on_commit_callbacks(execute=True):
        shopper.place(customer_name="Κ", **where)
    order = Order.objects.get()
    factories.payment(order, expires_at=timezone.now() + timedelta(hours=1))
    for status in (OrderStatus.READY, OrderStatus.IN_DELIVERY, OrderStatus.CANCELLED):
        with django_capture_on_commit_callbacks(execute=True):
            change_order_status(order=order, status=status)
    assert [each.to for each in mailoutbox] == [["kim@example.com"]] * 4
    for mail in mailoutbox:
        [(html, _)] = mail.alternatives
        sender = str(make_header(decode_header(mail.from_email)))
        texts = [mail.subject, *mail.body.splitlines(), *said_on(html), sender]
        assert plain_words(texts) == set()

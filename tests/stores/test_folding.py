"""Searches fold case and compose letters, on every database (contract, section 15, "Text as typed")."""

from unicodedata import normalize
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client

from accounts.models import Business, User
from common.db.folding import FindsAll
from installations.models import Installation
from stores.models import Order, Product
from stores.order_search import SearchText, matching, plain_words
from stores.queries import listed_products
from tests import factories
from tests.clients import client_of
from tests.merchants.pages import installed, listed_app
from tests.pages import main_words_of, signed_in
from tests.storefront.shopping import Shopper

SPEC = "Contract 15 Text as typed"
# A name, and what people search for it.
SEARCHES = [
    ("Хлеб ржаной", "хлеб"), ("хлеб белый", "ХЛЕБ"), ("Öl aus Kreta", "öl"), ("Café noir", "CAFÉ"), ("Émile", "émile"),
    (normalize("NFD", "Crème brûlée"), "crème brûlée"), ("Crème brûlée", normalize("NFD", "CRÈME")), ("Straße", "STRASSE"),
    ("STRAẞE", "straße"), ("ΟΔΟΣ", "οδος"), ("Kelvin \u212a2", "k2"), ("50% off_sale", "50% OFF_"), ("a\\b", "A\\B"),
]  # fmt: skip

pytestmark = pytest.mark.django_db


@pytest.fixture
def named(shop: Business) -> list[Product]:
    return [
        factories.product(shop, name=name, slug=f"p{number}") for number, (name, _) in enumerate(SEARCHES)
    ]


@pytest.mark.long
@pytest.mark.spec("Contract 15 Text as typed", "Searches fold case and compose letters on every database")
@pytest.mark.parametrize("door", ["app API", "store", "merchant", "all stores"])
def test_products_are_found_in_any_case_and_composition(
    door: str, named: list[Product], dana: User, shop: Business
) -> None:
    installation = installed(listed_app(dana, ["read_products"]), shop)
    for _, (name, searched) in zip(named, SEARCHES, strict=True):
        found = _names(door, searched, installation)
        assert name in found or normalize("NFC", name) in normalize("NFC", found), (
            door,
            ascii(name),
            ascii(searched),
        )
        assert "Zeppelin" not in found


def _names(door: str, searched: str, installation: Installation) -> str:
    store = installation.business
    if door == "app API":
        rows = client_of(installation).get("/app-api/products", {"search": searched}).json()["data"]
        return " | ".join(row["name"] for row in rows)
    if door == "store":
        return Shopper(store).see(f"?q={quote(searched)}")
    path = "/merchant/products/" if door == "merchant" else "/search/"
    return main_words_of(signed_in(store.owner).get(path, {"q": searched}))


def test_orders_are_found_by_a_name_in_any_case(browser_of_mira: Client, shop: Business) -> None:
    factories.order(shop, number="77001", customer_name="Émilie Хлебова")
    factories.order(shop, number="77002", customer_name="Bo")
    for searched in ("émilie", normalize("NFD", "ÉMILIE"), "хлебова ÉMI"):
        words = main_words_of(browser_of_mira.get("/merchant/orders/", {"q": searched}))
        assert "77001" in words
        assert "77002" not in words


def test_orders_are_counted_as_they_are_found(shop: Business) -> None:
    for number, (name, searched) in enumerate(SEARCHES):
        factories.order(shop, number=f"{number}", customer_name=name)
        rows = Order.objects.alias(found_in=SearchText())
        counted = rows.filter(FindsAll(SearchText(), *plain_words(searched)))
        assert set(counted) == set(rows.filter(matching(searched))) != set(), ascii(name)


@pytest.fixture
def browser_of_mira(mira: User) -> Client:
    return signed_in(mira)


@pytest.mark.postgres
def test_searches_have_their_indexes(shop: Business) -> None:
    orders = Order.objects.alias(found_in=SearchText()).filter(matching("kim@bücher.example"))
    products = listed_products(shop, search="хлеб").rows.order_by()
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_indexscan = off")
        for table, wanted in (("stores_order", "order_finds"), ("stores_product", "product_finds")):
            others = "SELECT indexrelid::regclass::text FROM pg_index WHERE indrelid = %s::regclass AND NOT indisunique"
            cursor.execute(f"{others} AND indexrelid <> %s::regclass", [table, wanted])
            for (name,) in cursor.fetchall():
                cursor.execute(f"DROP INDEX {name}")
        cursor.execute("DROP INDEX order_number_of_own_order")
        cursor.execute("ALTER TABLE stores_product DROP CONSTRAINT product_slug_in_business")
        assert "order_finds" in orders.explain()
        assert "product_finds" in products.explain()

"""What shoppers see of a store with 10,000 products and orders, and of one with 100, to a stock page (`pages.py` measures)."""

from collections.abc import Iterator
from typing import Final
from urllib.parse import urlsplit

from django.test import Client

from accounts.enums import Role
from accounts.models import Business
from benchmarks import merchant, shops
from benchmarks.options import Options
from benchmarks.pages import FEW, Area, Asked, browser_of, stock_page
from benchmarks.processes import Failed
from benchmarks.results import Row
from stores.addresses import store_url
from stores.models import Product

PAGES: Final = {
    "home": "",
    "home, page 4": "?page=4",
    "a category": "?category=Category+7",
    "a search": "?q=Product+7",
    "a word that is nowhere": "?q=zeppelin",
    "one product": "products/{product}/",
    "cart": "cart/",
    "checkout": "checkout/",
}


def storefront(options: Options) -> Iterator[Row]:
    """The pages of a store, with something in the cart."""
    rows = 1_000 if options.quick else 10_000
    owner = shops.user(Role.MERCHANT)
    few, many = (merchant.seed(owner, count) for count in (FEW, rows))
    with stock_page(options) as stock:
        area = Area("Storefront", options, stock, rows)
        small, large = (_shopper(shop) for shop in (few, many))
        for name, text in PAGES.items():
            yield area.row(Asked(name, small, _path(few, text), _path(many, text), client_of_many=large))
        yield area.slowest()
        yield from area.served()


def _shopper(shop: Business) -> Client:
    """A browser with three things in the cart."""
    client = browser_of(None, SERVER_NAME=urlsplit(store_url(shop.slug)).hostname)
    for product in Product.objects.filter(business=shop, stock__gt=3)[:3]:
        answer = client.post(_path(shop, f"products/{product.slug}/add/"), {"quantity": 1})
        if answer.status_code != 302:
            raise Failed(f"Adding to the cart answered {answer.status_code}")
    return client


def _path(shop: Business, text: str) -> str:
    product = Product.objects.filter(business=shop).latest("id")
    return f"/{text.format(product=product.slug)}"

"""`manage.py fill_shop`: twelve products with stock, a country, and somebody who runs the shop. Made once."""

from decimal import Decimal
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand
from django.db import transaction
from oscar.core.loading import get_class, get_model

OWNER, PASSWORD = "owner@harbor.example", "demo-password"
GOODS = {
    "Kitchen": {
        "Cast iron pan": "38.00",
        "Bread knife": "24.50",
        "Olive board": "19.90",
        "Tea kettle": "45.00",
    },
    "Table": {
        "Linen napkins": "16.00",
        "Stoneware bowl": "14.00",
        "Water carafe": "22.00",
        "Salt cellar": "9.50",
    },
    "Home": {"Wool blanket": "89.00", "Beeswax candle": "7.80", "Door mat": "27.00", "Hand broom": "12.40"},
}


class Command(BaseCommand):
    help = (
        "Makes twelve products with stock, a country and somebody who runs the shop, unless they are there."
    )

    @transaction.atomic
    def handle(self, *args: Any, **options: Any) -> None:
        if get_model("catalogue", "Product").objects.exists():
            return
        get_user_model().objects.create_superuser(
            "owner", OWNER, PASSWORD, first_name="Hana", last_name="Harbor"
        )
        get_model("address", "Country").objects.create(
            iso_3166_1_a2="US", iso_3166_1_a3="USA", iso_3166_1_numeric="840", printable_name="United States",
            name="United States of America", is_shipping_country=True,
        )  # fmt: skip
        partner = get_model("partner", "Partner").objects.create(name="Harbor Goods")
        kind = get_model("catalogue", "ProductClass").objects.create(name="Goods")
        for category, goods in GOODS.items():
            path = get_class("catalogue.categories", "create_from_breadcrumbs")(category)
            for title, price in goods.items():
                product = get_model("catalogue", "Product").objects.create(
                    title=title, product_class=kind, description=f"{title}, made to last."
                )
                product.categories.add(path)
                get_model("partner", "StockRecord").objects.create(
                    product=product, partner=partner, partner_sku=f"HG-{product.pk}", price=Decimal(price),
                    num_in_stock=200, low_stock_threshold=5,
                )  # fmt: skip

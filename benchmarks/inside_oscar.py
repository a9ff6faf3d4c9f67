"""What changes django-oscar, as its own people do: run inside of `examples/oscar_shop`, in that shop's environment.

Reads lines of JSON, `[name, *arguments]` of a function below, and answers each with one.
"""

import json
import random
import sys
import time
from decimal import Decimal

import django

sys.path.insert(0, ".")  # the shop's folder
django.setup()

from django.db import transaction  # noqa: E402
from extension_platform_store.django.connection import hooks  # noqa: E402
from oscar.core.loading import get_model  # noqa: E402

Product, StockRecord = get_model("catalogue", "Product"), get_model("partner", "StockRecord")


@transaction.atomic
def make_products(count: int) -> list[int]:
    """As many more. Returns the ids of all."""
    kind, partner = Product.objects.first().product_class, StockRecord.objects.first().partner
    for number in range(count):
        product = Product.objects.create(title=f"Product {number}", product_class=kind)
        StockRecord.objects.create(
            product=product, partner=partner, partner_sku=f"P-{product.pk}", price=Decimal(5), num_in_stock=100_000
        )  # fmt: skip
    StockRecord.objects.update(num_in_stock=100_000)
    return list(Product.objects.order_by("pk").values_list("pk", flat=True))


def rename(product_id: int, title: str) -> float:
    """The moment before the change began, by the machine's clock."""
    began = time.monotonic()
    product = Product.objects.get(pk=product_id)
    product.title = title
    product.save()
    return began


def change(count: int, pause: float) -> int:
    """Titles and prices of products by chance, one after another. Each is a transaction of its own."""
    chance, ids = random.Random(7), list(Product.objects.values_list("pk", flat=True))
    for number in range(count):
        with transaction.atomic():
            product = Product.objects.get(pk=chance.choice(ids))
            if chance.random() < 0.5:
                product.title = f"Name {number}"
                product.save()
            else:
                stock = product.stockrecords.get()
                stock.price = Decimal(number) / 4
                stock.save()
        time.sleep(pause)
    return count


def ask(count: int, fee: int) -> list[float]:
    """Seconds of each question about a delivery fee, as at a checkout that is confirmed. Each has to be answered with this fee."""
    taken = []
    for number in range(count):
        data = {"deliveryMethod": "DELIVERY", "subtotal": 900 + number, "builtInFee": 400}
        began = time.perf_counter()
        answered = hooks().checkout(fresh=True).ask("checkout.shipping_rates", data).answer
        taken.append(time.perf_counter() - began)
        if answered["fee"] != fee:
            raise ValueError(answered)
    return taken


def products() -> dict[str, list[str]]:
    """Title and price by id."""
    rows = StockRecord.objects.values_list("product_id", "product__title", "price")
    return {str(product_id): [title, f"{price:.2f}"] for product_id, title, price in rows}


def orders() -> list[str]:
    """Their numbers."""
    return list(get_model("order", "Order").objects.values_list("number", flat=True))


if __name__ == "__main__":
    print(json.dumps("ready"), flush=True)
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(globals()[name](*arguments)), flush=True)

"""What the app API is asked for: shops with many products and orders, and tokens for them."""

import random
from collections.abc import Iterator, Sequence
from datetime import timedelta
from itertools import cycle
from uuid import UUID, uuid4

from django.db import connection
from django.utils import timezone

from accounts.enums import Role
from accounts.models import Business
from benchmarks import shops
from common.ids import new_id
from common.secrets import digest
from installations.models import Installation
from marketplace.models import App, AppVersion
from stores.enums import OrderStatus
from stores.models import Order, OrderItem, Product, StoreTotals
from stores.samples.store import write_orders

DESCRIPTION = "A fine thing for the house, made by hand of good wood. " * 2
SCOPES = ["read_products", "read_orders", "write_orders"]
CATEGORIES = 10
PART = 20_000  # products in a transaction
PER_TOKEN = 55  # requests a minute, of the 60 that an installation has


def shop(products: int, orders: int = 0) -> Business:
    business = shops.business()
    StoreTotals.objects.update_or_create(
        business=business,
        defaults={"products": products, "orders": orders, "last_order_number": 1000 + orders},
    )
    _fill(business, products)
    _order(business, orders)
    return business


def tidy() -> None:
    """What autovacuum would have done by and by."""
    with connection.cursor() as cursor:
        for model in (Product, Order, OrderItem, Installation, App, AppVersion):
            cursor.execute(f"VACUUM ANALYZE {connection.ops.quote_name(model._meta.db_table)}")


def tokens(business: Business, requests: int) -> Iterator[str]:
    """As many as it takes to make so many requests within a minute, in turn."""
    developer = shops.user(Role.DEVELOPER)
    count = -(-requests // PER_TOKEN)
    fields = {"name": "App", "description": "Reads.", "category": "other", "scopes": SCOPES}
    fields["redirect_url"] = "https://app.example.com/callback"
    apps = App.objects.bulk_create(
        App(developer=developer, slug=f"app-{uuid4()}", client_id=uuid4().hex, **fields) for _ in range(count)
    )
    versions = AppVersion.objects.bulk_create(AppVersion(app=app, number=1, **fields) for app in apps)
    for app, version in zip(apps, versions, strict=True):
        app.approved_version = version
    App.objects.bulk_update(apps, ["approved_version"])
    made = [f"fbat_{uuid4().hex}" for _ in apps]
    Installation.objects.bulk_create(
        _installation(app, business, token) for app, token in zip(apps, made, strict=True)
    )
    return cycle(made)


def _installation(app: App, business: Business, token: str) -> Installation:
    made = shops.installation(app, business)
    made.granted_scopes = SCOPES
    made.token_digest = digest(token)
    made.last_used_at = timezone.now() + timedelta(hours=1)  # the minute's note of use is another matter
    return made


def _fill(business: Business, count: int) -> None:
    """In parts, each a transaction of its own: a long one would delay the feed of every store."""
    for start in range(0, count, PART):
        _copy(business, range(start, min(start + PART, count)))


def _copy(business: Business, numbers: range) -> None:
    now = timezone.now()
    columns = (
        "id, business_id, name, slug, description, price, category, is_available, image, status, stock, "
        "created_at, updated_at"
    )
    with connection.cursor() as cursor, cursor.copy(f"COPY stores_product ({columns}) FROM STDIN") as copy:
        for n in numbers:
            words = (f"Product {n}", f"product-{n}", DESCRIPTION)
            shelf = (1250 + n % 1000, f"Category {n % CATEGORIES}", n % 7 != 0, "", "ACTIVE", n % 50)
            copy.write_row((new_id(), business.pk, *words, *shelf, now, now))


def _order(business: Business, count: int) -> None:
    now, shelf = timezone.now(), Product.objects.filter(business=business)[:CATEGORIES]
    write_orders(business, shelf, [(now, OrderStatus.PENDING)] * count, chance=random.Random(count), now=now)


def newest(model: type[Product] | type[Order], business: Business, count: int) -> Sequence[UUID]:
    return list(model.objects.filter(business=business).order_by("-id").values_list("pk", flat=True)[:count])

"""Indexes by which a customer is found: by one e-mail address or phone number (`stores.customers`).

On SQLite, which is for small stores, orders are read one by one.
"""

from django.db import migrations, models
from django.db.models.functions import Lower, Trim

from common.db.operations import AddIndexConcurrently, build_index

# `stores.customers.PlainPhone`, as it is in this version.
SEPARATORS = " \t\u00a0\u202f\u2009()[]{}-\u2010\u2011\u2012\u2013\u2014\u2212./\\"
PHONE = "REPLACE(" * len(SEPARATORS) + "customer_phone" + "".join(f", '{each}', '')" for each in SEPARATORS)
COLUMNS = {
    "order_of_address": ("LOWER(TRIM(customer_email))", "customer_email"),
    "order_of_phone": (PHONE, "customer_phone"),
}


def add(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name, (expression, column) in COLUMNS.items():
            build_index(
                schema_editor,
                name,
                f"CREATE INDEX CONCURRENTLY {name} ON stores_order (({expression}), business_id) WHERE NOT ({column} = '')",
            )


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name in COLUMNS:
            schema_editor.execute(f"DROP INDEX IF EXISTS {name}")


class Migration(migrations.Migration):
    dependencies = [("stores", "0019_authors_of_reviews")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            "review",
            models.Index(
                Lower(Trim("author_email")),
                models.F("business"),
                condition=~models.Q(author_email=""),
                name="review_of_address",
            ),
        ),
        AddIndexConcurrently(
            "review",
            models.Index(
                fields=["cart_digest", "business"],
                condition=~models.Q(cart_digest=""),
                name="review_from_cart",
            ),
        ),
        migrations.RunPython(add, remove, elidable=False),
    ]

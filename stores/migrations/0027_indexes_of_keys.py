"""Indexes by which a customer is found, instead of those of migration 0020, which read what was typed."""

from django.db import migrations, models

from common.db.operations import AddIndexConcurrently, RemoveIndexConcurrently, remove_index

BEFORE = ("order_of_address", "order_of_phone")


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name in BEFORE:
            remove_index(schema_editor, name)


class Migration(migrations.Migration):
    dependencies = [("stores", "0026_fill_keys")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            "order",
            models.Index(
                condition=models.Q(customer_email_key__gt=""),
                fields=["customer_email_key", "business"],
                name="order_of_email_key",
            ),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(
                condition=models.Q(customer_phone_key__gt=""),
                fields=["customer_phone_key", "business"],
                name="order_of_phone_key",
            ),
        ),
        AddIndexConcurrently(
            "order",
            models.Index(
                condition=models.Q(customer_email_key=None), fields=["business"], name="order_without_keys"
            ),
        ),
        AddIndexConcurrently(
            "review",
            models.Index(
                condition=models.Q(author_email_key__gt=""),
                fields=["author_email_key", "business"],
                name="review_of_email_key",
            ),
        ),
        AddIndexConcurrently(
            "review",
            models.Index(
                condition=models.Q(author_email_key=None), fields=["business"], name="review_without_key"
            ),
        ),
        migrations.RunPython(remove, migrations.RunPython.noop, elidable=True),
        RemoveIndexConcurrently("review", "review_of_address"),
    ]

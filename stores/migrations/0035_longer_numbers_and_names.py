import logging

import django.core.validators
from django.db import DatabaseError, OperationalError, migrations, models

from common.db.operations import AddUniqueConcurrently, build_index, remove_index

log = logging.getLogger(__name__)

# As in migration 0028.
ORDER = """
REPLACE(LOWER(UPPER(NORMALIZE((number || ' ' || customer_name || ' ' || customer_email || ' ' || COALESCE(customer_email_key, '') || ' ' ||
customer_phone || ' ' || COALESCE(customer_phone_key, REPLACE(REPLACE(REPLACE(customer_phone, ' ', ''), '-', ''), '.', '')))))), 'ß', 'ss')
"""


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        remove_index(schema_editor, "order_finds")


def build(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    try:
        build_index(
            schema_editor,
            "order_finds",
            f"CREATE INDEX CONCURRENTLY order_finds ON stores_order USING gin (({ORDER}) gin_trgm_ops)",
        )
    except OperationalError:  # `migrate` tries again
        raise
    except DatabaseError as error:
        log.warning("There is no index for searches because pg_trgm is not available: %s", error)


class Migration(migrations.Migration):
    """An index on an expression would be built again while the table is locked. So it goes first, and is built beside others' work."""

    dependencies = [("stores", "0034_orders_of_shops")]
    atomic = False

    operations = [
        migrations.RunPython(remove, migrations.RunPython.noop, elidable=False),
        migrations.AlterField(model_name="order", name="number", field=models.CharField(max_length=50)),
        migrations.AlterField(
            model_name="order",
            name="customer_name",
            field=models.CharField(
                max_length=200, validators=[django.core.validators.MaxLengthValidator(120)]
            ),
        ),
        migrations.RunPython(build, migrations.RunPython.noop, elidable=False),
        AddUniqueConcurrently(
            "order",
            models.UniqueConstraint(
                condition=models.Q(external_id=None),
                fields=["business", "number"],
                name="order_number_of_own_order",
            ),
        ),
    ]

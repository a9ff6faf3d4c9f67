"""An index for searching orders, where PostgreSQL has `pg_trgm`, as for products (migration 0002).

Without it a search reads the orders of the store one by one.
"""

import logging

from django.db import DatabaseError, OperationalError, migrations

from common.db.operations import build_index

log = logging.getLogger(__name__)

# `stores.order_search.SearchText`
TEXT = """
upper(number || ' ' || customer_name || ' ' || customer_email || ' ' ||
REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(REPLACE(customer_phone, ' ', ''), '-', ''), '.', ''), '/', ''), '(', ''), ')', ''))
"""


def add(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    try:
        build_index(
            schema_editor,
            "order_search",
            f"CREATE INDEX CONCURRENTLY order_search ON stores_order USING gin (({TEXT}) gin_trgm_ops)",
        )
        if schema_editor.connection.pg_version >= 140_000:
            schema_editor.execute("DROP STATISTICS IF EXISTS order_search_words")
            schema_editor.execute(f"CREATE STATISTICS order_search_words ON ({TEXT}) FROM stores_order")
    except OperationalError:  # `migrate` tries again
        raise
    except DatabaseError as error:
        log.warning("There is no index for order searches because pg_trgm is not available: %s", error)


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP STATISTICS IF EXISTS order_search_words")
        schema_editor.execute("DROP INDEX IF EXISTS order_search")


class Migration(migrations.Migration):
    dependencies = [("stores", "0011_indexes")]
    atomic = False

    operations = [migrations.RunPython(add, remove, elidable=False)]

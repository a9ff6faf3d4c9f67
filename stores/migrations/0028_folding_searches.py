"""Indexes for searches that fold case and compose letters (`common.db.folding`), instead of those of migrations 0002 and 0012.

As there, they are made where PostgreSQL has `pg_trgm`. Without them a search reads the rows of the store one by one.
"""

import logging

from django.db import DatabaseError, OperationalError, migrations

from common.db.operations import build_index, remove_index

log = logging.getLogger(__name__)

# `common.db.folding.POSTGRESQL` and `stores.order_search.SearchText`, as they are in this version.
FOLDED = "REPLACE(LOWER(UPPER(NORMALIZE({}))), 'ß', 'ss')"
NAME, DESCRIPTION = FOLDED.format("name"), FOLDED.format("description")
ORDER = FOLDED.format("""
(number || ' ' || customer_name || ' ' || customer_email || ' ' || COALESCE(customer_email_key, '') || ' ' || customer_phone || ' ' ||
COALESCE(customer_phone_key, REPLACE(REPLACE(REPLACE(customer_phone, ' ', ''), '-', ''), '.', '')))
""")
INDEXES = {
    "product_finds": f"stores_product USING gin (({NAME}) gin_trgm_ops, ({DESCRIPTION}) gin_trgm_ops) WHERE status = 'ACTIVE'",
    "order_finds": f"stores_order USING gin (({ORDER}) gin_trgm_ops)",
}
STATISTICS = {
    "product_finds_words": f"({NAME}), ({DESCRIPTION}) FROM stores_product",
    "order_finds_words": f"({ORDER}) FROM stores_order",
}
INDEXES_BEFORE = ("product_search", "order_search")
STATISTICS_BEFORE = ("product_search_words", "order_search_words")


def change(apps, schema_editor):
    """Can run twice."""
    if schema_editor.connection.vendor != "postgresql":
        return
    try:
        for name, on in INDEXES.items():
            build_index(schema_editor, name, f"CREATE INDEX CONCURRENTLY {name} ON {on}")
        for name, on in STATISTICS.items():
            schema_editor.execute(f"DROP STATISTICS IF EXISTS {name}")
            schema_editor.execute(f"CREATE STATISTICS {name} ON {on}", params=None)
    except OperationalError:  # `migrate` tries again
        raise
    except DatabaseError as error:
        log.warning("There is no index for searches because pg_trgm is not available: %s", error)
    for name in INDEXES_BEFORE:
        remove_index(schema_editor, name)
    for name in STATISTICS_BEFORE:
        schema_editor.execute(f"DROP STATISTICS IF EXISTS {name}")


class Migration(migrations.Migration):
    dependencies = [("stores", "0027_indexes_of_keys")]
    atomic = False

    operations = [migrations.RunPython(change, migrations.RunPython.noop, elidable=False)]

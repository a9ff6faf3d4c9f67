"""An index for searching names and descriptions, where PostgreSQL has what it takes.

`pg_trgm` comes with PostgreSQL, but some installations leave it out or keep it to administrators. Without it
a search reads the products of the shop one by one.
"""

import logging

from django.db import DatabaseError, migrations, transaction

log = logging.getLogger(__name__)

INDEX = """
CREATE INDEX product_search ON stores_product
USING gin (upper(name::text) gin_trgm_ops, upper(description::text) gin_trgm_ops) WHERE status = 'ACTIVE'
"""

# By which PostgreSQL knows whether a word is rare, and the index worth its while. Since version 14.
STATISTICS = """
CREATE STATISTICS product_search_words ON (upper(name::text)), (upper(description::text)) FROM stores_product
"""


def add(apps, schema_editor):
    if schema_editor.connection.vendor != "postgresql":
        return
    try:
        with transaction.atomic(using=schema_editor.connection.alias):
            schema_editor.execute("CREATE EXTENSION IF NOT EXISTS pg_trgm")
            schema_editor.execute(INDEX)
            if schema_editor.connection.pg_version >= 140_000:
                schema_editor.execute(STATISTICS)
    except DatabaseError as error:
        log.warning("There is no index for product searches because pg_trgm is not available: %s", error)


def remove(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP STATISTICS IF EXISTS product_search_words")
        schema_editor.execute("DROP INDEX IF EXISTS product_search")


class Migration(migrations.Migration):
    dependencies = [("stores", "0001_initial")]
    operations = [migrations.RunPython(add, remove, elidable=False)]

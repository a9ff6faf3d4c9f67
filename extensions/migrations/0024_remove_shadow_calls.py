"""No row of a table that is read no more may keep an installation from being deleted, or a customer's words from being erased."""

from typing import Any

from django.db import migrations

BATCH = 5_000
DELETE = f"""
DELETE FROM extensions_shadowcall WHERE id IN (SELECT id FROM extensions_shadowcall LIMIT {BATCH})
"""


def remove(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        while True:
            cursor.execute(DELETE)
            if cursor.rowcount < BATCH:
                return


class Migration(migrations.Migration):

    atomic = False

    dependencies = [
        ("extensions", "0023_no_shadow_calls"),
    ]

    operations = [
        migrations.RunPython(remove, migrations.RunPython.noop),
    ]

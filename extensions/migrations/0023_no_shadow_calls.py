"""Hooks aren't asked in the shadow any more. The table stays for processes of the release before, which read it, and gets no rows."""

from typing import Any

from django.db import migrations

TABLE = "extensions_shadowcall"


def close(apps: Any, schema_editor: Any) -> None:
    """`NOT VALID`: the next migration removes the rows that are there."""
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"ALTER TABLE {TABLE} ADD CONSTRAINT shadow_calls_ended CHECK (false) NOT VALID")


def reopen(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute(f"ALTER TABLE {TABLE} DROP CONSTRAINT shadow_calls_ended")


class Migration(migrations.Migration):

    dependencies = [
        ("extensions", "0022_history_of_counted_calls"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            state_operations=[migrations.DeleteModel("ShadowCall")],
            database_operations=[migrations.RunPython(close, reopen)],
        ),
    ]

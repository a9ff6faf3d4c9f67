from typing import Any

import django.db.models.deletion
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


class AlterWebhook(migrations.AlterField):
    """Locks webhooks before deliveries, as events do, which read the ones and write the others. Else both would wait in vain."""

    def database_forwards(
        self, app_label: str, schema_editor: BaseDatabaseSchemaEditor, from_state: Any, to_state: Any
    ) -> None:
        assert from_state.apps and to_state.apps  # noqa: PT018  # makes the models, before the lock
        if schema_editor.connection.vendor == "postgresql":
            schema_editor.execute("LOCK TABLE webhooks_webhook IN ACCESS EXCLUSIVE MODE")
        super().database_forwards(app_label, schema_editor, from_state, to_state)


class Migration(migrations.Migration):
    """What the constraint checked, the nightly audit looks for (docs/decisions/0052)."""

    dependencies = [("webhooks", "0015_leases_by_time")]

    operations = [
        AlterWebhook(
            model_name="delivery",
            name="webhook",
            field=models.ForeignKey(
                db_constraint=False,
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="deliveries",
                to="webhooks.webhook",
            ),
        ),
    ]

"""Three indexes that no query uses. Each made the version that a store runs dearer to write, of which an approval writes all."""

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

UNUSED = (
    "installations_installation_declined_version_id_b9f677af",
    # For LIKE, of digests that are only looked up whole. Only PostgreSQL has them.
    "installations_installation_token_digest_36b8a051_like",
    "installations_installation_ended_token_digest_161fc15c_like",
)


def drop(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Can run twice."""
    how = "CONCURRENTLY " if editor.connection.vendor == "postgresql" else ""
    for name in UNUSED:
        editor.execute(f'DROP INDEX {how}IF EXISTS "{name}"')


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("installations", "0024_fill_runs"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(drop, migrations.RunPython.noop)],
            state_operations=[
                migrations.AlterField(
                    model_name="installation",
                    name="declined_version",
                    field=models.ForeignKey(blank=True, db_index=False, help_text="The approved version that the merchant last said no to.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name="+", to="marketplace.appversion"),
                ),
            ],
        ),
    ]

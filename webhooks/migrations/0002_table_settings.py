"""How PostgreSQL keeps the table of deliveries, whose rows change two or three times each, all within seconds."""

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

# Room on each page for the row's next version, and a vacuum for every few thousand changed rows instead of every
# fifth of a table that keeps 30 days: the claim walks past what is dead until it is vacuumed.
SETTINGS = {
    "fillfactor": "70",
    "autovacuum_vacuum_scale_factor": "0",
    "autovacuum_vacuum_threshold": "10000",
    "autovacuum_vacuum_cost_delay": "0",
    "autovacuum_analyze_scale_factor": "0.02",
}


def apply(apps: object, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        settings = ", ".join(f"{name} = {value}" for name, value in SETTINGS.items())
        editor.execute(f"ALTER TABLE webhooks_delivery SET ({settings})")


def take_back(apps: object, editor: BaseDatabaseSchemaEditor) -> None:
    if editor.connection.vendor == "postgresql":
        editor.execute(f"ALTER TABLE webhooks_delivery RESET ({', '.join(SETTINGS)})")


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0001_initial")]
    operations = [migrations.RunPython(apply, take_back)]

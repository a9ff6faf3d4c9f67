import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """What the constraint checked, the nightly audit looks for (docs/decisions/0052)."""

    dependencies = [("webhooks", "0015_leases_by_time")]

    operations = [
        migrations.AlterField(
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

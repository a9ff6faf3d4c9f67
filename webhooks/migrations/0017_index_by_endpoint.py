from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    """While both versions run, claims of the one before sort a backlog, which is slow and right."""

    dependencies = [("webhooks", "0016_deliveries_lock_no_webhooks")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                models.F("endpoint"),
                models.F("due_at"),
                models.F("id"),
                condition=models.Q(
                    ("due_at__isnull", False), ("lease_until", None), ("endpoint__isnull", False)
                ),
                name="delivery_of_endpoint",
            ),
        ),
        migrations.RemoveIndex(model_name="delivery", name="delivery_turn"),
    ]

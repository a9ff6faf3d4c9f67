from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    """Whether an app's developer got a mail within the hour was looked for among all webhooks of the app."""

    dependencies = [("webhooks", "0019_index_of_failures")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name="webhook",
            index=models.Index(
                models.F("notified_at"),
                condition=models.Q(("notified_at__isnull", False)),
                name="webhook_notified",
            ),
        ),
    ]

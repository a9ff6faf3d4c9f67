from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    """Of the deliveries that failed, which are few, so that failing webhooks are found without those that work."""

    dependencies = [("webhooks", "0018_endpoints_by_host")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                models.F("webhook"),
                condition=models.Q(
                    ("status__in", ("RETRYING", "EXHAUSTED")),
                    models.Q(("event_type", "webhook.test"), _negated=True),
                ),
                name="delivery_failed",
            ),
        ),
    ]

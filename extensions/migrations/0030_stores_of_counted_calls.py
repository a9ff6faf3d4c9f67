"""The stores in which a new version fails, so that the outage of one halts no release."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("extensions", "0029_skipped_calls_that_count"),
    ]

    operations = [
        migrations.AddField(
            model_name="countedcalls",
            name="stores",
            field=models.JSONField(db_default={}, default=dict),
        ),
    ]

"""The newest hours and days of a release, for its plots."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("extensions", "0021_counted_calls"),
    ]

    operations = [
        migrations.AddField(
            model_name="countedcalls",
            name="history",
            field=models.JSONField(db_default={}, default=dict),
        ),
    ]

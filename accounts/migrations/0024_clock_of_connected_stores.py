from datetime import timedelta

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0023_shop_systems")]

    operations = [
        migrations.AddField(
            "connectedstore",
            "ahead",
            models.DurationField(
                default=timedelta,
                editable=False,
                help_text="Of a connection for tests: how far its clock is before the real one.",
            ),
        ),
    ]

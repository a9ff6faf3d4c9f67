"""What stores run that an open release hasn't reached."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0013_rolling_version"),
    ]

    operations = [
        migrations.AddField(
            model_name='app',
            name='earlier_version',
            field=models.ForeignKey(blank=True, db_index=False, help_text="What stores run that the open release hasn't reached.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='marketplace.appversion'),
        ),
    ]

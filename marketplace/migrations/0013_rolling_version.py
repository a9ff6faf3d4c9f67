"""The version of the open release of an app."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0012_members"),
    ]

    operations = [
        migrations.AddField(
            model_name='app',
            name='rolling_version',
            field=models.ForeignKey(blank=True, db_index=False, help_text='The version of the open release, rolling or halted; empty: every store runs the approved version.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='marketplace.appversion'),
        ),
    ]

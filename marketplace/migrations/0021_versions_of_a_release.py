"""Apps know which versions run while a release is open."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('marketplace', '0012_members'),
    ]

    operations = [
        migrations.AddField(
            model_name='app',
            name='earlier_version',
            field=models.ForeignKey(blank=True, db_index=False, help_text="What stores run that the open release hasn't reached.", null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='marketplace.appversion'),
        ),
        migrations.AddField(
            model_name='app',
            name='live_saves',
            field=models.BooleanField(db_default=True, default=True, help_text='A save of the manifest that widens nothing runs in production at once. Off: it waits for the next version.'),
        ),
        migrations.AddField(
            model_name='app',
            name='rolling_version',
            field=models.ForeignKey(blank=True, db_index=False, help_text='The version of the open release, rolling or halted; empty: every store runs the approved version.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='marketplace.appversion'),
        ),
        migrations.AddField(
            model_name='app',
            name='taken_back_at',
            field=models.DateTimeField(blank=True, editable=False, help_text='When a version was last taken back. What was saved before waits for the next version.', null=True),
        ),
    ]

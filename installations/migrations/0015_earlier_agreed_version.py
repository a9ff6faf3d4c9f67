"""What it had agreed to before."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("installations", "0014_followed_at"),
    ]

    operations = [
        migrations.AddField(
            model_name='installation',
            name='earlier_agreed_version',
            field=models.ForeignKey(blank=True, db_index=False, help_text='What it had agreed to before it followed that version, in case that is taken back.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='marketplace.appversion'),
        ),
    ]

"""The version that an installation followed last."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("installations", "0012_own_installations"),
        ('marketplace', '0012_members'),
    ]

    operations = [
        migrations.AddField(
            model_name='installation',
            name='followed_version',
            field=models.ForeignKey(blank=True, db_index=False, help_text='The approved version that it followed last. While a release is open, only those that followed its version run it.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='marketplace.appversion'),
        ),
    ]

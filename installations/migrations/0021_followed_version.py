"""Installations say which version they followed last."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('installations', '0012_own_installations'),
        ('marketplace', '0012_members'),
    ]

    operations = [
        migrations.AddField(
            model_name='installation',
            name='earlier_agreed_version',
            field=models.ForeignKey(blank=True, db_index=False, help_text='What it had agreed to before it followed that version, in case that is taken back.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='marketplace.appversion'),
        ),
        migrations.AddField(
            model_name='installation',
            name='followed_at',
            field=models.DateTimeField(blank=True, help_text='Since when it runs that version.', null=True),
        ),
        migrations.AddField(
            model_name='installation',
            name='followed_version',
            field=models.ForeignKey(blank=True, db_index=False, help_text='The approved version that it followed last. While a release is open, only those that followed its version run it.', null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='marketplace.appversion'),
        ),
        migrations.AlterField(
            model_name='historyentry',
            name='kind',
            field=models.CharField(choices=[('INSTALLED', 'Installed'), ('TERMS_CHANGED', 'Authorized again'), ('CONVERTED', 'Became a production install'), ('NEEDS_RECONSENT', 'Asked to agree to more'), ('AGREED', 'Agreed to more'), ('DECLINED', 'Kept as it was'), ('PAUSED', 'Paused'), ('RESUMED', 'Resumed'), ('SCOPES_REMOVED', 'Permissions taken away by an approval'), ('SCOPES_RETURNED', 'Permissions returned with an earlier version'), ('TOKEN_ENDED', 'Access token ended'), ('UNINSTALLED', 'Uninstalled'), ('ERASURE_SENT', 'Data erasure sent'), ('ERASURE_CONFIRMED', 'Data erasure confirmed'), ('ERASURE_OVERDUE', 'Data erasure not confirmed'), ('ERASURE_CANCELLED', 'Data erasure cancelled'), ('ERASURE_UNADDRESSED', 'No address for the data erasure')], max_length=20),
        ),
    ]

"""Scopes can come back with an earlier version."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("installations", "0015_earlier_agreed_version"),
    ]

    operations = [
        migrations.AlterField(
            model_name='historyentry',
            name='kind',
            field=models.CharField(choices=[('INSTALLED', 'Installed'), ('TERMS_CHANGED', 'Authorized again'), ('CONVERTED', 'Became a production install'), ('NEEDS_RECONSENT', 'Asked to agree to more'), ('AGREED', 'Agreed to more'), ('DECLINED', 'Kept as it was'), ('PAUSED', 'Paused'), ('RESUMED', 'Resumed'), ('SCOPES_REMOVED', 'Permissions taken away by an approval'), ('SCOPES_RETURNED', 'Permissions returned with an earlier version'), ('TOKEN_ENDED', 'Access token ended'), ('UNINSTALLED', 'Uninstalled'), ('ERASURE_SENT', 'Data erasure sent'), ('ERASURE_CONFIRMED', 'Data erasure confirmed'), ('ERASURE_OVERDUE', 'Data erasure not confirmed'), ('ERASURE_CANCELLED', 'Data erasure cancelled'), ('ERASURE_UNADDRESSED', 'No address for the data erasure')], max_length=20),
        ),
    ]

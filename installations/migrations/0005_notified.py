from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('installations', '0004_agree_to_current_version'),
    ]

    operations = [
        migrations.RemoveIndex(model_name='installation', name='installation_to_tell'),
        migrations.RenameField(
            model_name='installation', old_name='reconsent_told_at', new_name='reconsent_notified_at'
        ),
        migrations.AddIndex(
            model_name='installation',
            index=models.Index(
                fields=['id'],
                condition=models.Q(needs_reconsent=True, reconsent_notified_at=None),
                name='installation_to_notify',
            ),
        ),
        migrations.AlterField(
            model_name='historyentry',
            name='kind',
            field=models.CharField(choices=[('INSTALLED', 'Installed'), ('TERMS_CHANGED', 'Authorized again'), ('CONVERTED', 'Became a production install'), ('NEEDS_RECONSENT', 'Asked to agree to more'), ('AGREED', 'Agreed to more'), ('DECLINED', 'Kept as it was'), ('PAUSED', 'Paused'), ('RESUMED', 'Resumed'), ('SCOPES_REMOVED', 'Permissions taken away by an approval'), ('TOKEN_ENDED', 'Access token ended'), ('UNINSTALLED', 'Uninstalled'), ('ERASURE_SENT', 'Data erasure sent'), ('ERASURE_CONFIRMED', 'Data erasure confirmed'), ('ERASURE_OVERDUE', 'Data erasure not confirmed'), ('ERASURE_CANCELLED', 'Data erasure cancelled'), ('ERASURE_UNADDRESSED', 'No address for the data erasure')], max_length=20),
        ),
    ]

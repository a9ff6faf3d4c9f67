"""What an app did not name at the consent, kept, since which version a store was shown can't be told from the time alone."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("installations", "0017_permissions_followed"),
    ]

    operations = [
        migrations.AddField(
            model_name='installation',
            name='left_out_scopes',
            field=models.JSONField(blank=True, db_default=[], default=list, help_text='What the version that was shown at the consent asked for and the app did not name. It is not asked for again.'),
        ),
    ]

"""How many of the calls that an open breaker skips count as failed in a release."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('extensions', '0027_last_opening_of_breakers'),
    ]

    operations = [
        migrations.AddField(
            model_name='breaker',
            name='skips_counted',
            field=models.PositiveSmallIntegerField(db_default=0, default=0, help_text='Calls skipped since then that count as failed in a release.'),
        ),
    ]

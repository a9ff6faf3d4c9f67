"""Submissions say whether the hooks of their version are asked in the shadow."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0019_release_of_submissions"),
    ]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='shadow',
            field=models.BooleanField(db_default=False, default=False, help_text='Whether its hooks are asked beside those that stores run, while its release rolls.'),
        ),
    ]

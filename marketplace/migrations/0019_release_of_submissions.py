"""Submissions say how their version will be released."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0018_releases"),
    ]

    operations = [
        migrations.AddField(
            model_name='submission',
            name='release',
            field=models.CharField(choices=[('ALL', 'All stores at once'), ('STEPS', 'In steps')], db_default='ALL', default='ALL', max_length=5),
        ),
    ]

"""Since when it runs that version."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("installations", "0013_followed_version"),
    ]

    operations = [
        migrations.AddField(
            model_name='installation',
            name='followed_at',
            field=models.DateTimeField(blank=True, help_text='Since when it runs that version.', null=True),
        ),
    ]

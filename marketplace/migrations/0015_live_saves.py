"""Whether saves run in production before they are approved."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0014_earlier_version"),
    ]

    operations = [
        migrations.AddField(
            model_name='app',
            name='live_saves',
            field=models.BooleanField(db_default=True, default=True, help_text='A save of the manifest that widens nothing runs in production at once. Off: it waits for the next version.'),
        ),
    ]

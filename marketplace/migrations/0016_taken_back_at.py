"""When a version of an app was last taken back."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0015_live_saves"),
    ]

    operations = [
        migrations.AddField(
            model_name='app',
            name='taken_back_at',
            field=models.DateTimeField(blank=True, editable=False, help_text='When a version was last taken back. What was saved before waits for the next version.', null=True),
        ),
    ]

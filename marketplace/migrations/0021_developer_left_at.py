"""When a developer last left an app who may know its client secret."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("marketplace", "0020_shadow_of_submissions"),
    ]

    operations = [
        migrations.AddField(
            model_name='app',
            name='developer_left_at',
            field=models.DateTimeField(blank=True, editable=False, help_text='When a developer last left who may know this client secret. Empty once it is regenerated, or kept.', null=True),
        ),
    ]

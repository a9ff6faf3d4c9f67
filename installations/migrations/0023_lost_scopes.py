"""The granted scopes that the newest version took."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("installations", "0022_runs"),
    ]

    operations = [
        migrations.AddField(
            model_name="installation",
            name="lost_scopes",
            field=models.JSONField(blank=True, db_default={}, default=dict, editable=False, help_text="What the newest version took of the granted scopes, by its id: it returns if the version is taken back."),
        ),
    ]

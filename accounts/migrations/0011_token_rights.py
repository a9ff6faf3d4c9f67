"""What a developer token may do. The tokens that exist get no rights: none were selected."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("accounts", "0010_drop_one_sandbox_per_owner")]

    operations = [
        migrations.AddField(
            model_name="developertoken",
            name="rights",
            field=models.JSONField(db_default=[], default=list),
        ),
    ]

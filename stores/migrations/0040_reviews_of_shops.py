from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0039_check_of_amounts")]

    operations = [
        AddFields("review", [("external_id", models.CharField(editable=False, max_length=100, null=True))]),
    ]

from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    """Figures leave out what is on sandboxes, and looked at each store for that."""

    dependencies = [("accounts", "0015_staff")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name="business",
            index=models.Index(
                fields=["id"], condition=models.Q(("is_sandbox", True)), name="business_sandbox"
            ),
        ),
    ]

from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    """Which stores have one."""

    dependencies = [("accounts", "0028_copies")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name="business",
            index=models.Index(
                fields=["copy_of"], condition=models.Q(("copy_of__isnull", False)), name="business_copies"
            ),
        ),
    ]

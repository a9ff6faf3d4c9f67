from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    """An app's installs and uninstalls by day are counted without reading the rows."""

    dependencies = [("installations", "0019_fill_left_out_scopes")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name="installation",
            index=models.Index(
                fields=["app", "installed_at"],
                condition=models.Q(("is_test", False)),
                include=("uninstalled_at", "business"),
                name="installation_made",
            ),
        ),
        AddIndexConcurrently(
            model_name="installation",
            index=models.Index(
                fields=["app", "uninstalled_at"],
                condition=models.Q(("is_test", False), ("uninstalled_at__isnull", False)),
                include=("business",),
                name="installation_ended",
            ),
        ),
    ]

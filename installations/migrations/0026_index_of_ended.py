"""An app's ended installations, for its erasures."""

from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ("installations", "0025_fewer_indexes"),
    ]

    operations = [
        AddIndexConcurrently(
            model_name="installation",
            index=models.Index(condition=models.Q(("uninstalled_at__isnull", False)), fields=["app"], name="installation_over"),
        ),
    ]

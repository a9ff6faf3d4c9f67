from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    """Claims of the version before find leases by the new index too, so the old one goes at once."""

    dependencies = [("webhooks", "0014_fast_endpoints")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                models.F("lease_until"),
                condition=models.Q(("lease_until__isnull", False)),
                name="delivery_lease_end",
            ),
        ),
        migrations.RemoveIndex(model_name="delivery", name="delivery_leased"),
    ]

"""One erasure of the business for each installation, as before, and one for each erased customer.

The new indexes are there before the old constraint goes.
"""

import django.db.models.deletion
from django.db import migrations, models

from common.db.operations import AddIndexConcurrently, AddUniqueConcurrently


class Migration(migrations.Migration):
    dependencies = [("installations", "0012_own_installations"), ("webhooks", "0026_erasures_of_customers")]
    atomic = False

    operations = [
        AddIndexConcurrently("erasure", models.Index(models.F("installation"), name="erasure_of_installation")),
        AddUniqueConcurrently(
            "erasure",
            models.UniqueConstraint(
                condition=models.Q(("customer", None)),
                fields=("installation",),
                name="one_erasure_of_a_business_per_installation",
            ),
        ),
        AddUniqueConcurrently(
            "erasure",
            models.UniqueConstraint(
                condition=models.Q(("customer__isnull", False)),
                fields=("customer", "installation"),
                name="one_erasure_of_a_customer_per_installation",
            ),
        ),
        migrations.AlterField(
            "erasure",
            "installation",
            models.ForeignKey(
                db_index=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="erasures",
                to="installations.installation",
            ),
        ),
    ]

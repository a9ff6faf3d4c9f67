import django.db.models.deletion
from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    dependencies = [("stores", "0021_erased_customers"), ("webhooks", "0025_listeners_of_test_stores")]

    operations = [
        AddFields(
            "erasure",
            [
                (
                    "answer",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        help_text="Of a customer's: the app's response in words.",
                        max_length=100,
                    ),
                ),
                (
                    "customer",
                    models.ForeignKey(
                        db_index=False,
                        help_text="Whose data; empty: the business's.",
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="requests",
                        to="stores.customererasure",
                    ),
                ),
            ],
        ),
    ]

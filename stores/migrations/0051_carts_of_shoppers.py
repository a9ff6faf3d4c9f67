from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0050_shoppers")]

    operations = [
        AddFields(
            "cart",
            [
                (
                    "attributes",
                    models.JSONField(
                        db_default={},
                        default=dict,
                        help_text="As `Order.attributes`, for the order that is placed from it.",
                    ),
                ),
                (
                    "shopper_id",
                    models.BigIntegerField(
                        help_text="Of its newest order, or of a mailed link that was confirmed since.", null=True
                    ),
                ),
                (
                    "proven_id",
                    models.BigIntegerField(
                        help_text="Who has shown in this browser that a mailed link reached them; the newest one.",
                        null=True,
                    ),
                ),
            ],
        ),
    ]

from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0033_pictures_of_shops")]

    operations = [
        AddFields(
            "order",
            [
                ("external_id", models.CharField(editable=False, max_length=100, null=True)),
                (
                    "other_charges",
                    models.BigIntegerField(
                        db_default=0,
                        default=0,
                        help_text="Surcharges and fees of a mirrored order; may be negative.",
                    ),
                ),
            ],
        ),
    ]

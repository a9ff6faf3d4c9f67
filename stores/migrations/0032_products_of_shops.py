from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0031_maxima")]

    operations = [
        AddFields(
            "product",
            [
                ("external_id", models.CharField(editable=False, max_length=100, null=True)),
                (
                    "group_id",
                    models.CharField(
                        blank=True,
                        db_default="",
                        default="",
                        editable=False,
                        help_text="Of a mirrored row: the same for all variants of one thing.",
                        max_length=200,
                    ),
                ),
            ],
        ),
    ]

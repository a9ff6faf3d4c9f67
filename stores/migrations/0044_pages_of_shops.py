from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0043_lines_without_products")]

    operations = [
        AddFields(
            "sitepage",
            [
                ("external_id", models.CharField(editable=False, max_length=100, null=True)),
                (
                    "url",
                    models.TextField(
                        blank=True,
                        db_default="",
                        default="",
                        editable=False,
                        help_text="Of a mirrored row: its page in the shop.",
                    ),
                ),
            ],
        ),
    ]

from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0046_mirror")]

    operations = [
        AddFields(
            "sitepage",
            [
                (
                    "is_framable",
                    models.BooleanField(
                        db_default=False,
                        default=False,
                        editable=False,
                        help_text="Whether the page in the shop could be framed by ours at the last look.",
                    ),
                ),
                (
                    "framing_looked_at",
                    models.DateTimeField(editable=False, help_text="Null: no look at its URL yet.", null=True),
                ),
            ],
        ),
    ]

from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0051_carts_of_shoppers")]

    operations = [
        AddFields(
            "order",
            [
                (
                    "attributes",
                    models.JSONField(
                        editable=False,
                        help_text="What apps have put there: texts by their keys, by the app as `OrderHookPart.provider` names it. "
                        "Null without any.",
                        null=True,
                    ),
                ),
                (
                    "proven_at",
                    models.DateTimeField(
                        editable=False,
                        help_text="When somebody first confirmed it on the page behind the mailed link.",
                        null=True,
                    ),
                ),
            ],
        ),
    ]

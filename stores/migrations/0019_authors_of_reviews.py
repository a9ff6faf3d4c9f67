from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    dependencies = [("stores", "0018_carts_of_orders")]

    operations = [
        AddFields(
            "review",
            [
                (
                    "author_email",
                    models.EmailField(blank=True, db_default="", default="", editable=False, max_length=254),
                ),
                (
                    "cart_digest",
                    models.CharField(blank=True, db_default="", default="", editable=False, max_length=64),
                ),
            ],
        ),
    ]

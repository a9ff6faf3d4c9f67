from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("stores", "0017_store_visits")]

    operations = [
        migrations.AddField(
            "order",
            "cart_digest",
            models.CharField(
                blank=True,
                db_default="",
                default="",
                editable=False,
                help_text="Of the `Cart` that it was placed from, so that reviews from the same browser can be found.",
                max_length=64,
            ),
        ),
    ]

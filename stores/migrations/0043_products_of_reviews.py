import django.db.models.deletion
from django.db import migrations, models

from common.db.operations import AllowNull


class Migration(migrations.Migration):
    """So that the ORM looks for reviews without their products, too. None has no `product_id`."""

    dependencies = [("stores", "0042_reviews_without_products")]

    operations = [
        AllowNull(
            model_name="review",
            name="product",
            field=models.ForeignKey(
                db_constraint=False,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="reviews",
                to="stores.product",
            ),
        ),
    ]

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    """A shop may push a review before its product, and keep it without."""

    dependencies = [("stores", "0041_longer_authors")]

    operations = [
        migrations.AlterField(
            model_name="review",
            name="product",
            field=models.ForeignKey(
                db_constraint=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="reviews",
                to="stores.product",
            ),
        ),
    ]

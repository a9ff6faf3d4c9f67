from django.db import migrations, models


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0042_reviews_without_products")]

    operations = [
        migrations.AlterField(
            model_name="orderitem", name="product_id", field=models.UUIDField(db_index=True, null=True)
        ),
    ]

from django.db import migrations, models


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0028_folding_searches")]

    operations = [
        migrations.AlterField(
            model_name="product",
            name="category",
            field=models.CharField(blank=True, max_length=200),
        ),
    ]

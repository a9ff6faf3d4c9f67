import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0040_reviews_of_shops")]

    operations = [
        migrations.AlterField(
            model_name="review",
            name="author_name",
            field=models.CharField(
                max_length=200, validators=[django.core.validators.MaxLengthValidator(120)]
            ),
        ),
    ]

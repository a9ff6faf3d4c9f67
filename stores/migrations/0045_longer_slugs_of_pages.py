import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0044_pages_of_shops")]

    operations = [
        migrations.AlterField(
            model_name="sitepage",
            name="slug",
            field=models.SlugField(
                max_length=200, validators=[django.core.validators.MaxLengthValidator(120)]
            ),
        ),
    ]

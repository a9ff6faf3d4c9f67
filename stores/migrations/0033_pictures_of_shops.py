import django.core.validators
from django.db import migrations, models


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0032_products_of_shops")]

    operations = [
        migrations.AlterField(
            model_name="product",
            name="image",
            field=models.CharField(
                blank=True,
                help_text="Path under the site's address: of the first `ProductPicture`, or such as /static/images/product.svg. The shop's URL in a mirrored row.",
                max_length=2000,
                validators=[
                    django.core.validators.RegexValidator(
                        "^/[^/\\\\]", "Must be a path that begins with one slash."
                    )
                ],
            ),
        ),
    ]

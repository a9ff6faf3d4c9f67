from django.db import migrations, models


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0053_index_of_attributes")]

    operations = [
        migrations.AddField(
            model_name="quote",
            name="attributes",
            field=models.JSONField(help_text="Of the cart, as `Order.attributes`.", null=True),
        ),
    ]

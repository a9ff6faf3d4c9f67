from django.db import migrations


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0035_longer_numbers_and_names")]

    operations = [
        migrations.RemoveConstraint("order", "order_number_in_business"),
    ]

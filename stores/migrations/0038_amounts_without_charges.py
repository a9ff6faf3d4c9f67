from django.db import migrations


class Migration(migrations.Migration):
    """PostgreSQL changes the catalog alone."""

    dependencies = [("stores", "0037_amounts_with_charges")]

    operations = [
        migrations.RemoveConstraint("order", "order_amount_adds_up"),
    ]

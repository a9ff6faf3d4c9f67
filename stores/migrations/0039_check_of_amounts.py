from django.db import migrations

from common.db.operations import ValidateCheck


class Migration(migrations.Migration):
    """Others read and write meanwhile."""

    dependencies = [("stores", "0038_amounts_without_charges")]

    operations = [
        ValidateCheck("order", "order_amount_is_the_sum"),
    ]

from django.db import migrations, models

from common.db.operations import AddCheckNotValid


class Migration(migrations.Migration):
    """The check holds for new rows at once; migration 0039 looks through the others."""

    dependencies = [("stores", "0036_numbers_of_own_orders")]

    operations = [
        AddCheckNotValid(
            "order",
            models.CheckConstraint(
                condition=models.Q(
                    amount=models.F("subtotal")
                    - models.F("discount")
                    + models.F("delivery_fee")
                    + models.F("other_charges")
                ),
                name="order_amount_is_the_sum",
            ),
        ),
    ]

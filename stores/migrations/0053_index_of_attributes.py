from django.db import migrations, models

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    dependencies = [("stores", "0052_attributes_of_orders")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            "order",
            models.Index(
                condition=models.Q(attributes__isnull=False), fields=["business"], name="order_with_attributes"
            ),
        ),
    ]

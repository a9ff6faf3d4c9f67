from django.db import migrations, models
from django.db.models.functions import Coalesce

from common.db.operations import AddIndexConcurrently


class Migration(migrations.Migration):
    dependencies = [("stores", "0056_refunds_on_the_wire")]
    atomic = False

    operations = [
        AddIndexConcurrently(
            "order",
            models.Index(
                "business",
                Coalesce(
                    models.Func("customer_email_key", template="NULLIF(%(expressions)s, '')"),
                    "customer_phone_key",
                    output_field=models.CharField(),
                ),
                models.F("id").desc(),
                name="order_of_person",
            ),
        ),
    ]

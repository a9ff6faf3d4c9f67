"""The normal forms of addresses and numbers in rows that exist. In batches, while orders and erasures go on."""

from django.db import migrations

from common.contacts import kept_email_key, kept_phone_key
from common.db.fields import complete


def fill(apps, schema_editor):
    """Can run twice."""
    complete(
        apps.get_model("stores", "Order"), {"customer_email": kept_email_key, "customer_phone": kept_phone_key}
    )
    complete(apps.get_model("stores", "Review"), {"author_email": kept_email_key})


class Migration(migrations.Migration):
    dependencies = [("stores", "0025_key_of_reviews")]
    atomic = False

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]

"""The normal forms of an order's e-mail address and phone number (`common.contacts`). Filled by migration 0026."""

from django.db import migrations, models

from common.db.operations import AddFields


class Migration(migrations.Migration):
    dependencies = [("stores", "0023_words_of_erased_customers")]

    operations = [
        AddFields(
            "order",
            [
                ("customer_email_key", models.CharField(editable=False, max_length=254, null=True)),
                ("customer_phone_key", models.CharField(editable=False, max_length=40, null=True)),
            ],
        ),
    ]

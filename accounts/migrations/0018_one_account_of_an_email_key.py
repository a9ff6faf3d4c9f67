from django.db import migrations, models

from common.db.operations import AddUniqueConcurrently


class Migration(migrations.Migration):
    dependencies = [("accounts", "0017_email_keys")]
    atomic = False

    operations = [
        AddUniqueConcurrently(
            "user",
            models.UniqueConstraint(
                condition=models.Q(email_key__isnull=False), fields=["email_key"], name="account_of_email_key"
            ),
        ),
    ]

"""The normal forms of the addresses of accounts that exist. In batches, while people register."""

from django.db import migrations

from accounts.email_keys import complete


def fill(apps, schema_editor):
    """Can run twice."""
    complete(apps.get_model("accounts", "User"))


class Migration(migrations.Migration):
    dependencies = [("accounts", "0018_one_account_of_an_email_key")]
    atomic = False

    operations = [migrations.RunPython(fill, migrations.RunPython.noop, elidable=True)]

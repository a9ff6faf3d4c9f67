from django.db import migrations


def confirm(apps, schema_editor):
    """Whoever registered before addresses were confirmed counts as confirmed: their stores stay open."""
    Address = apps.get_model("account", "EmailAddress")
    users = apps.get_model("accounts", "User").objects.values_list("id", "email")
    rows = (Address(user_id=pk, email=email, verified=True) for pk, email in users.iterator())
    Address.objects.bulk_create(rows, batch_size=1000, ignore_conflicts=True)


class Migration(migrations.Migration):

    dependencies = [
        ("accounts", "0002_sign_ins_and_sessions"),
        ("account", "0009_emailaddress_unique_primary_email"),
    ]

    operations = [migrations.RunPython(confirm, migrations.RunPython.noop)]

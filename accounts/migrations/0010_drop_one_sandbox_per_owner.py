"""`one_lasting_sandbox` has replaced it."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("accounts", "0009_indexes")]

    operations = [migrations.RemoveConstraint(model_name="business", name="one_sandbox_per_owner")]

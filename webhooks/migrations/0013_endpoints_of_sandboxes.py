from django.db import migrations


class Migration(migrations.Migration):
    """Nothing: webhooks of sandbox stores get their own endpoints in 0018, which numbers all of them."""

    dependencies = [("webhooks", "0012_slots_of_listeners")]

    operations: list[migrations.RunPython] = []

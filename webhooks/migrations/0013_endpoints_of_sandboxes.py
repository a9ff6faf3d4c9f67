"""Webhooks on a developer's own sandbox store get endpoints of their own. What waits keeps the endpoint that it has."""

from typing import Any

from django.db import migrations
from django.db.models import F

from webhooks.endpoints import endpoint_key


def separate(apps: Any, _: Any) -> None:
    webhooks = apps.get_model("webhooks", "Webhook").objects.filter(
        installation__business__is_sandbox=True,
        installation__business__owner=F("installation__app__developer"),
    )
    rows = webhooks.values_list("pk", "url", "installation__app", "installation__business")
    for pk, url, app, business in rows.iterator():
        webhooks.filter(pk=pk).update(endpoint=endpoint_key(app, url, sandbox=business))


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0012_slots_of_listeners")]
    atomic = False  # each row by itself

    operations = [migrations.RunPython(separate, migrations.RunPython.noop)]

"""Endpoints get numbers that begin with their host. They keep their paces; what waits keeps the number that it has."""

from typing import Any

from django.db import migrations

from webhooks.endpoints import endpoint_key


def renumber(apps: Any, _: Any) -> None:
    webhooks, endpoints = (apps.get_model("webhooks", name).objects for name in ("Webhook", "Endpoint"))
    paces = dict(endpoints.values_list("id", "pace"))
    rows = webhooks.select_related("installation__business", "installation__app").only(
        "url", "endpoint", "installation__app", "installation__app__developer", "installation__business",
        "installation__business__is_sandbox", "installation__business__owner",
    )  # fmt: skip
    for webhook in rows.order_by("pk").iterator(chunk_size=1000):
        app, business = webhook.installation.app, webhook.installation.business
        is_own = business.is_sandbox and business.owner_id == app.developer_id
        number = endpoint_key(app.pk, webhook.url, sandbox=business.pk if is_own else None)
        webhooks.filter(pk=webhook.pk, url=webhook.url).update(endpoint=number)
        if pace := paces.pop(webhook.endpoint, ""):
            endpoints.update_or_create(id=number, defaults={"pace": pace})


class Migration(migrations.Migration):
    dependencies = [("webhooks", "0017_index_by_endpoint")]
    atomic = False  # each row by itself

    operations = [migrations.RunPython(renumber, migrations.RunPython.noop)]

"""Endpoints get numbers that begin with their host. They keep their paces; what waits keeps the number that it has."""

import socket
from hashlib import blake2b
from ipaddress import IPv4Address, IPv6Address
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.db import migrations


def endpoint_key(app_id: UUID, url: str, *, sandbox: UUID | None) -> int:
    """As `webhooks.endpoints` had it when this migration was written: 28 bits for the host, 12 for the owner, 24 for both."""
    owner = f"{app_id} {sandbox}" if sandbox else f"{app_id}"
    number = _hash(_host(url), 28) << 36 | _hash(owner, 12) << 24 | _hash(f"{owner} {url}", 24)
    return number - 2**64 if number >= 2**63 else number


def _hash(text: str, bits: int) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest()) >> (32 - bits)


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = _address(parts.hostname or "")
        return f"{host}:{parts.port}" if host in ("127.0.0.1", "::1", "localhost") else host
    except ValueError:
        return ""


def _address(host: str) -> str:
    try:
        return str(IPv6Address(host) if ":" in host else IPv4Address(socket.inet_aton(host.rstrip("."))))
    except (OSError, ValueError):
        return host.rstrip(".").lower()


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

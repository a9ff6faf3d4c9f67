"""Endpoints get numbers that nobody outside can compute. They keep their paces; what waits keeps its number."""

import socket
from hashlib import blake2b
from ipaddress import IPv4Address, IPv6Address
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import migrations, transaction
from django.utils.crypto import salted_hmac

BATCH = 500


def endpoint_key(app_id: UUID, url: str, *, sandbox: UUID | None) -> int:
    """As `webhooks.endpoints` had it when this migration was written."""
    owner = f"{app_id} {sandbox}" if sandbox else f"{app_id}"
    number = _hash(_host(url), 28) << 36 | _hash(owner, 12) << 24 | _hash(f"{owner} {url}", 24)
    return number - 2**64 if number >= 2**63 else number


def _hash(text: str, bits: int) -> int:
    key = salted_hmac("webhooks.endpoints", "number", secret=settings.SECRET_KEY, algorithm="sha256").digest()
    return int.from_bytes(blake2b(text.encode(), digest_size=4, key=key).digest()) >> (32 - bits)


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
    """Can run twice."""
    rows = apps.get_model("webhooks", "Webhook").objects.select_related("installation").order_by("pk").only(
        "url", "endpoint", "installation__app_id", "installation__business_id", "installation__is_own"
    )  # fmt: skip
    last = UUID(int=0)
    while batch := _renumber_batch(apps, rows.filter(pk__gt=last)):
        last = batch[-1].pk


@transaction.atomic
def _renumber_batch(apps: Any, rows: Any) -> list[Any]:
    """Locks the rows, so that their URLs stay until they are saved."""
    webhooks, endpoints = (apps.get_model("webhooks", name) for name in ("Webhook", "Endpoint"))
    batch = list(rows.select_for_update(of=("self",), no_key=True)[:BATCH])
    paces = dict(endpoints.objects.filter(pk__in=[each.endpoint for each in batch]).values_list("pk", "pace"))
    kept = []
    for each in batch:
        installation, pace = each.installation, paces.get(each.endpoint)
        sandbox = installation.business_id if installation.is_own else None
        each.endpoint = endpoint_key(installation.app_id, each.url, sandbox=sandbox)
        if pace:
            kept.append(endpoints(pk=each.endpoint, pace=pace))
    webhooks.objects.bulk_update(batch, ["endpoint"])
    endpoints.objects.bulk_create(kept, ignore_conflicts=True)
    return batch


class Migration(migrations.Migration):
    dependencies = [
        ("webhooks", "0028_hours_of_counts"),
        ("installations", "0012_own_installations"),
    ]
    atomic = False

    operations = [migrations.RunPython(renumber, migrations.RunPython.noop)]

"""Identifies endpoints (docs/decisions/0010).

An endpoint is one app's URL. Installations that share it succeed and fail together. Another app that registers the
same URL has an endpoint of its own, and so has an installation on the developer's sandbox store: while a developer
tries something out there, deliveries to other stores don't wait.
"""

from hashlib import blake2b
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.db import models

LOWEST: Final = -(2**63)  # no endpoint has a lower number


def endpoint_key(app_id: UUID, url: str, *, sandbox: UUID | None = None) -> int:
    """The endpoint's number, from its app and URL. The upper 32 bits depend on the app and the host only.

    `sandbox` is the business of an installation on its developer's own sandbox store.
    """
    owner = f"{app_id} {sandbox}" if sandbox else f"{app_id}"
    return int.from_bytes(_hash(f"{owner} {urlsplit(url).netloc}") + _hash(url), signed=True)


def _hash(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=4).digest()


def host_of(endpoint: int) -> int:
    """The number that all endpoints of an app on one host share."""
    return endpoint >> 32


class EndpointField(models.BigIntegerField):
    """Set from the row's `find_endpoint()` whenever `save()` or `bulk_create()` writes the row."""

    def pre_save(self, model_instance: models.Model, add: bool) -> int:
        endpoint: int = model_instance.find_endpoint()  # type: ignore[attr-defined]
        setattr(model_instance, self.attname, endpoint)
        return endpoint

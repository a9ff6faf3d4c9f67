"""Identifies endpoints (docs/decisions/0010).

An endpoint is one app's URL. Installations that share it succeed and fail together. Another app that registers the
same URL has an endpoint of its own, and so has an installation on the developer's sandbox store: while a developer
tries something out there, deliveries to other stores don't wait.
"""

from functools import lru_cache
from hashlib import blake2b
from typing import Final
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.db import models
from django.utils.crypto import salted_hmac

from common.http import url_policy

LOWEST: Final = -(2**63)  # no endpoint has a lower number
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")
# An endpoint's number has 28 bits for the host, 12 for the app (with its sandbox store), and 24 for both with the URL.
HOST_SHIFT: Final = 36
SERVER_SHIFT: Final = 24


def endpoint_key(app_id: UUID, url: str, *, sandbox: UUID | None = None) -> int:
    """The endpoint's number, from its app and URL.

    `sandbox` is the business of an installation on its developer's own sandbox store. A URL whose number is that of
    another app's endpoint can't be looked for outside, since `SECRET_KEY` is a part of it. With a new key, endpoints have
    other numbers; rows keep theirs until they are saved.
    """
    owner = f"{app_id} {sandbox}" if sandbox else f"{app_id}"
    host, server, address = _hash(_host(url), 28), _hash(owner, 12), _hash(f"{owner} {url}", 24)
    number = host << HOST_SHIFT | server << SERVER_SHIFT | address
    return number + 2 * LOWEST if number >= -LOWEST else number


def _host(url: str) -> str:
    """The URL's host name. On the loopback each port is a server of its own, as in development."""
    try:
        host = url_policy.host_of(url)
        return f"{host}:{urlsplit(url).port}" if host in LOOPBACK else host
    except ValueError:  # nothing is sent to such a URL
        return ""


def _hash(text: str, bits: int) -> int:
    keyed = blake2b(text.encode(), digest_size=4, key=_key(settings.SECRET_KEY))
    return int.from_bytes(keyed.digest()) >> (32 - bits)


@lru_cache(maxsize=2)
def _key(secret: str) -> bytes:
    return salted_hmac("webhooks.endpoints", "number", secret=secret, algorithm="sha256").digest()


class EndpointField(models.BigIntegerField):
    """Set from the row's `find_endpoint()` whenever `save()` or `bulk_create()` writes the row."""

    def pre_save(self, model_instance: models.Model, add: bool) -> int:
        endpoint: int = model_instance.find_endpoint()  # type: ignore[attr-defined]
        setattr(model_instance, self.attname, endpoint)
        return endpoint

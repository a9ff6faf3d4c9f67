"""What counts as one endpoint, and how many attempts it may have under way at once (docs/decisions/0010).

An endpoint is an app's URL: all installations that the app serves at one URL get well and ill together, while
another app that names the same URL, in error or in malice, changes nothing for it.
"""

from datetime import timedelta
from hashlib import blake2b
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit
from uuid import UUID

from django.db import models

from webhooks.enums import Pace

if TYPE_CHECKING:
    from webhooks.transport import Exchange

LEASE: Final = timedelta(seconds=60)  # six times the deadline of an attempt
SLOW: Final = timedelta(milliseconds=500)  # an attempt that takes longer is not quick
LEASES: Final = {Pace.UNKNOWN: 8, Pace.PROVEN: 16, Pace.SLOW: 4, Pace.SILENT: 1}  # at most, of an endpoint
# A dead host may have thousands of URLs, each with room of its own. So the endpoints of an app on one host get
# nothing more while they hold this many leases that are older than `SLOW` or of endpoints that are not proven.
HOST_LEASES: Final = 384


def endpoint_key(app_id: UUID, url: str) -> int:
    """The endpoint's number, from its app and URL. The upper half stands for the app and the host alone."""
    return int.from_bytes(_hash(f"{app_id} {urlsplit(url).netloc}") + _hash(url), signed=True)


def _hash(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=4).digest()


def host_of(endpoint: int) -> int:
    """What all endpoints of an app on one host share."""
    return endpoint >> 32


def leases_allowed(pace: Pace, *, holds_old: bool) -> int:
    """How many leases an endpoint may hold. `holds_old`: it holds one for longer than `SLOW`.

    An endpoint that is known to answer slowly is not held to be hanging because it does.
    """
    return 1 if holds_old and pace != Pace.SLOW else LEASES[pace]


def pace_after(exchange: "Exchange") -> Pace | None:
    """What an attempt says of its endpoint; None where it leaves open what was known.

    A quick refusal by HTTP status takes no room from anybody, but does not prove that work gets done either.
    """
    if exchange.status is None:
        return None if exchange.error_class == "blocked_address" else Pace.SILENT
    if exchange.duration_ms > SLOW / timedelta(milliseconds=1):
        return Pace.SLOW
    return Pace.PROVEN if exchange.succeeded else None


class EndpointField(models.BigIntegerField):
    """Filled in from the row's `find_endpoint()` whenever the row is written whole."""

    def pre_save(self, model_instance: models.Model, add: bool) -> int:
        endpoint: int = model_instance.find_endpoint()  # type: ignore[attr-defined]
        setattr(model_instance, self.attname, endpoint)
        return endpoint

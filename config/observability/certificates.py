"""How long the certificates last that the platform's public hosts show."""

import logging
import socket
import ssl
from datetime import UTC, datetime
from time import monotonic
from typing import Final
from urllib.parse import urlsplit

from cryptography import x509
from django.conf import settings

log = logging.getLogger(__name__)

PATIENCE: Final = 3.0  # seconds
EVERY: Final = 600.0  # seconds between two looks at a host
ANY_STORE: Final = "certificate"  # a name under the stores' wildcard

_ends: Final[dict[str, datetime | None]] = {}  # by host; None where the last look failed
_looked_at: Final[dict[str, float]] = {}


def seconds_left() -> dict[str, float]:
    """By host, without those that can't be reached. Below zero for a certificate that has ended."""
    for host, port in _addresses():
        if monotonic() - _looked_at.get(host, -EVERY) >= EVERY:
            _looked_at[host], _ends[host] = monotonic(), _look(host, port)
    now = datetime.now(UTC)
    return {host: (end - now).total_seconds() for host, end in _ends.items() if end}


def _addresses() -> list[tuple[str, int]]:
    urls = (settings.BASE_URL, settings.STORES_URL.replace("{slug}", ANY_STORE))
    parts = (urlsplit(url) for url in urls if url.startswith("https://"))
    return [(each.hostname or "", each.port or 443) for each in parts]


def _look(host: str, port: int) -> datetime | None:
    """Whether it can be trusted is for browsers to judge: an authority of one's own counts, too."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    try:
        with (
            socket.create_connection((host, port), PATIENCE) as plain,
            context.wrap_socket(plain, server_hostname=host) as secure,
        ):
            shown = secure.getpeercert(binary_form=True)
    except OSError as error:
        log.warning("The certificate of %s can't be looked at: %s", host, error)
        return None
    return x509.load_der_x509_certificate(shown).not_valid_after_utc if shown else None

"""Who is at the other end of a connection."""

from django.conf import settings
from django.http import HttpRequest


def client_address(request: HttpRequest) -> str:
    """The address that asks.

    Behind a proxy (`BEHIND_PROXY`) that is the last entry of X-Forwarded-For: our own proxy has added it,
    while those before it are whatever the client has sent.
    """
    if settings.BEHIND_PROXY:
        forwarded = request.headers.get("X-Forwarded-For", "").rpartition(",")[2].strip()
        if forwarded:
            return forwarded
    return str(request.META.get("REMOTE_ADDR") or "0.0.0.0")  # noqa: S104  a Unix socket has no address

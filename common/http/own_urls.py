"""Tells URLs of the service itself from those of other servers."""

from urllib.parse import urlsplit

from django.conf import settings

from common.http.url_policy import host_of


def is_own(url: str) -> bool:
    """Whether the service answers at a valid URL: on `BASE_URL`, `STORES_URL` or another name that it listens to, at
    the port of one of the two."""
    if _port(url) not in {_port(settings.BASE_URL), _port(settings.STORES_URL)}:
        return False
    names = {_name(settings.BASE_URL), _name(settings.STORES_URL), *settings.ALLOWED_HOSTS} - {"*"}
    return any(_covers(name.strip("[]").lower(), host_of(url)) for name in names)


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or {"http": 80, "https": 443}[parts.scheme]


def _name(url: str) -> str:
    """As `ALLOWED_HOSTS` writes it: the hosts of all stores are their domain with a leading dot."""
    return (urlsplit(url).hostname or "").replace("{slug}.", ".")


def _covers(pattern: str, host: str) -> bool:
    """As Django reads `ALLOWED_HOSTS`: a leading dot covers the domain and everything below it."""
    if pattern.startswith("."):
        return host == pattern[1:] or host.endswith(pattern)
    return host == pattern

"""System checks of a production start. A missing or weak secret stops it earlier, in the settings."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register
from django.utils import timezone

from common.http.sites import is_same_site


@register(Tags.security)
def production_settings(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Problems of a start without `DEBUG`, each with a hint that says what to set."""
    if settings.DEBUG:
        return []
    return [*_addresses(), *_servers(), *_security_txt()]


def _addresses() -> Iterator[CheckMessage]:
    if not settings.BASE_URL.startswith("https://"):
        yield Warning(
            "BASE_URL is not HTTPS: tokens and sign-ins would travel in the clear.",
            hint="Set BASE_URL to the site's https:// address.",
            id="config.W001",
        )
    if is_same_site(settings.BASE_URL, settings.STORES_URL.replace("{slug}.", "slug.")):
        yield Warning(
            "The stores are under the same domain as the platform: to browsers they are one site, so requests that "
            "scripts in stores send to the platform carry its cookies.",
            hint="Set STORES_URL to a host of another registered domain.",
            id="config.W004",
        )
    if "{slug}." in settings.STORES_URL and not settings.STORES_DOMAIN_IS_PUBLIC_SUFFIX:
        yield Warning(
            "The domain of the stores is not on the Public Suffix List: a script in one store can set cookies for all of them, "
            "with which no other store opens for that visitor.",
            hint="Have it added, as docs/operations-install.md describes, and then set STORES_DOMAIN_IS_PUBLIC_SUFFIX=on.",
            id="config.W007",
        )


def _servers() -> Iterator[CheckMessage]:
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        yield Warning(
            "The database is the embedded SQLite file, which serves one process.",
            hint="Set DATABASE_URL to a PostgreSQL database.",
            id="config.W002",
        )
    if not settings.REDIS_URL:
        yield Warning(
            "Rate limits are counted per process, since there is no shared cache.",
            hint="Set REDIS_URL to a Redis server.",
            id="config.W003",
        )


def _security_txt() -> Iterator[CheckMessage]:
    if not settings.SECURITY_TXT:
        yield Warning(
            "There is no /.well-known/security.txt, so people who find a vulnerability don't know where to report it.",
            hint="Set SECURITY_CONTACT, for example to mailto:security@example.com.",
            id="config.W005",
        )
    elif settings.SECURITY_TXT.partition("Expires: ")[2] < timezone.now().isoformat():
        yield Warning(
            "/.well-known/security.txt has expired.",
            hint="Check SECURITY_CONTACT, and set SECURITY_EXPIRES to a date within a year.",
            id="config.W006",
        )

"""System checks for a production start. A missing or weak secret stops it earlier, in the settings."""

from collections.abc import Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register


@register(Tags.security)
def production_settings(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """What must not be so without `DEBUG`, each with its way out."""
    if settings.DEBUG:
        return []
    problems: list[CheckMessage] = []
    if settings.ALLOW_LOCAL_DESTINATIONS:
        problems.append(
            Error(
                "ALLOW_LOCAL_DESTINATIONS lets apps reach the services of this machine.",
                hint="Unset it, or set DEBUG=1 on a development machine.",
                id="config.E001",
            )
        )
    if not settings.BASE_URL.startswith("https://"):
        problems.append(
            Warning(
                "BASE_URL is not HTTPS: tokens and sign-ins would travel in the clear.",
                hint="Set BASE_URL to the site's https:// address.",
                id="config.W001",
            )
        )
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        problems.append(
            Warning(
                "The database is the embedded SQLite file, which serves one process.",
                hint="Set DATABASE_URL to a PostgreSQL database.",
                id="config.W002",
            )
        )
    if not settings.REDIS_URL:
        problems.append(
            Warning(
                "Rate limits are counted per process, since there is no shared cache.",
                hint="Set REDIS_URL.",
                id="config.W003",
            )
        )
    return problems

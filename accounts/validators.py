"""What a business may say about its money, language and time."""

from functools import lru_cache
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

from common.money import CURRENCIES

# Language, then perhaps script and region (BCP 47): en, pt-BR, zh-Hans-CN.
validate_locale = RegexValidator(
    r"\A[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?\Z",
    "Must be a language tag such as en or pt-BR.",
)


def validate_currency(code: str) -> None:
    if code not in CURRENCIES:
        raise ValidationError("Must be an ISO 4217 code of three capital letters, such as EUR.")


def validate_timezone(name: str) -> None:
    if name not in known_timezones():
        raise ValidationError("Must be a name of the IANA time zone database, such as Europe/Berlin.")


@lru_cache(maxsize=1)
def known_timezones() -> frozenset[str]:
    return frozenset(available_timezones())


@lru_cache(maxsize=1)
def timezone_choices() -> tuple[tuple[str, tuple[tuple[str, str], ...]], ...]:
    """For a select: places by continent. It leaves out what names no place, such as `EST5EDT`, but keeps aliases such as
    `Asia/Calcutta`, because browsers report them."""
    regions: dict[str, list[tuple[str, str]]] = {"World": [("UTC", "UTC")]}
    for name in sorted(known_timezones()):
        region, _, place = name.partition("/")
        if place and region not in ("Etc", "SystemV", "US"):
            regions.setdefault(region, []).append((name, timezone_label(place)))
    return tuple((region, tuple(places)) for region, places in regions.items())


def timezone_label(name: str) -> str:
    """`Argentina / Buenos Aires` for `Argentina/Buenos_Aires`."""
    return name.replace("_", " ").replace("/", " / ")

"""What a business may say about its money, language and time."""

from functools import lru_cache
from zoneinfo import available_timezones

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator

from common.currencies import CURRENCIES

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

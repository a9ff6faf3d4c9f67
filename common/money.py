"""Money: integer minor units in the database, numbers in major units in APIs.

The number of decimals comes from ISO 4217. Currencies that don't have two are listed here.
"""

from decimal import ROUND_HALF_UP, Decimal

from django.utils import numberformat
from django.utils.formats import get_format

NO_DECIMALS = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
THREE_DECIMALS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())


def decimals(currency: str) -> int:
    """How many decimals the minor unit of an ISO 4217 currency has."""
    if currency in NO_DECIMALS:
        return 0
    return 3 if currency in THREE_DECIMALS else 2


def to_major(minor: int, currency: str) -> float | int:
    """The number for JSON: 1250 USD -> 12.5, and 1250 JPY -> 1250."""
    places = decimals(currency)
    return minor / 10**places if places else minor


def to_minor(major: float | int, currency: str) -> int:
    """12.5 USD -> 1250, rounded half up to the currency's smallest unit."""
    scaled = Decimal(str(major)) * 10 ** decimals(currency)
    return int(scaled.quantize(Decimal(1), rounding=ROUND_HALF_UP))


def display(minor: int, currency: str) -> str:
    """For people: `12.50 USD`."""
    places = decimals(currency)
    return f"{Decimal(minor).scaleb(-places):,.{places}f} {currency}"


def display_in(minor: int, currency: str, locale: str) -> str:
    """Like `display`, with the separators of a language: `1.234,50 EUR` for `de`.

    Languages unknown to Django get the English ones.
    """
    places = decimals(currency)
    number = numberformat.format(
        Decimal(minor).scaleb(-places),
        get_format("DECIMAL_SEPARATOR", lang=locale.lower()),
        decimal_pos=places,
        grouping=get_format("NUMBER_GROUPING", lang=locale.lower()) or 3,
        thousand_sep=get_format("THOUSAND_SEPARATOR", lang=locale.lower()),
        force_grouping=True,
        use_l10n=True,
    )
    return f"{number}\N{NO-BREAK SPACE}{currency}"

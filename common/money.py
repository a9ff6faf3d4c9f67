"""Money: integer minor units in the database, numbers in major units in APIs.

The number of decimals comes from ISO 4217. Currencies that don't have two are listed here.
"""

import re
from contextlib import suppress
from copy import copy
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.numbers import NumberPattern

NO_DECIMALS = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
THREE_DECIMALS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())
_LETTER_BESIDE_DIGIT: Final = re.compile(r"(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])")  # as in SEK12


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


@lru_cache(maxsize=4096)
def display(minor: int, currency: str, locale: str) -> str:
    """For people, in the form of a language: `$1,234.50` for `en`, `1.234,50 €` for `de`, `CA$5.00` for another dollar.

    Languages unknown to Unicode's locale data get the English form.
    """
    pattern = _pattern(locale, decimals(currency))
    amount = Decimal(minor).scaleb(-decimals(currency))
    text = pattern.apply(amount, _known(locale), currency=currency, currency_digits=False)
    return _LETTER_BESIDE_DIGIT.sub("\N{NO-BREAK SPACE}", text)


@lru_cache(maxsize=256)
def _pattern(locale: str, places: int) -> NumberPattern:
    pattern = copy(_known(locale).currency_formats["standard"])
    pattern.frac_prec = (places, places)  # ISO 4217's, which the locale data has otherwise for some
    return pattern


@lru_cache(maxsize=256)
def _known(locale: str) -> Locale:
    for tag in (locale, locale.partition("-")[0]):
        with suppress(UnknownLocaleError, ValueError):
            return Locale.parse(tag, sep="-")
    return Locale("en")

"""Amounts as people read them."""

import pytest

from common.money import display

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("minor", "currency", "locale", "words"),
    [
        (123450, "USD", "en", "$1,234.50"),
        (123450, "EUR", "en", "€1,234.50"),
        (123450, "EUR", "de", f"1.234,50{SPACE}€"),
        (123450, "EUR", "de-XX", f"1.234,50{SPACE}€"),
        (123450, "BRL", "pt-BR", f"R${SPACE}1.234,50"),
        (123450, "EUR", "fr", f"1\N{NARROW NO-BREAK SPACE}234,50{SPACE}€"),
        (123450, "CAD", "en", "CA$1,234.50"),  # another dollar than that of `en`
        (123450, "CAD", "en-CA", "$1,234.50"),
        (123450, "SEK", "en", f"SEK{SPACE}1,234.50"),
        (1234567, "JPY", "ja", "￥1,234,567"),
        (1234567, "KWD", "en", f"KWD{SPACE}1,234.567"),
        (1234567, "IQD", "en", f"IQD{SPACE}1,234.567"),  # ISO 4217 has three digits, the locale data none
        (5, "USD", "en", "$0.05"),
        (0, "USD", "en", "$0.00"),
        (123450, "USD", "tlh", "$1,234.50"),  # the locale data doesn't have the language
        (123450, "USD", "zh-Hans-CN", "US$1,234.50"),
        (2**53, "USD", "en", "$90,071,992,547,409.92"),
    ],
)
def test_amount_has_the_form_of_the_locale(minor, currency, locale, words):
    assert display(minor, currency, locale) == words

"""Amounts as people read them."""

import pytest

from common.money import display, display_in

SPACE = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("minor", "currency", "locale", "words"),
    [
        (123450, "USD", "en", f"1,234.50{SPACE}USD"),
        (123450, "EUR", "de", f"1.234,50{SPACE}EUR"),
        (123450, "EUR", "de-AT", f"1.234,50{SPACE}EUR"),
        (123450, "BRL", "pt-BR", f"1.234,50{SPACE}BRL"),
        (123450, "EUR", "fr", f"1{SPACE}234,50{SPACE}EUR"),
        (1234567, "JPY", "ja", f"1,234,567{SPACE}JPY"),
        (1234567, "KWD", "en", f"1,234.567{SPACE}KWD"),
        (5, "USD", "en", f"0.05{SPACE}USD"),
        (0, "USD", "en", f"0.00{SPACE}USD"),
        (123450, "USD", "tlh", f"1,234.50{SPACE}USD"),  # no signs are known for it
        (2**53, "USD", "en", f"90,071,992,547,409.92{SPACE}USD"),
    ],
)
def test_amount_is_written_with_the_signs_of_the_locale(minor, currency, locale, words):
    assert display_in(minor, currency, locale) == words


def test_amount_for_staff_names_its_currency():
    assert display(123450, "USD") == "1,234.50 USD"

"""The SDK counts money as the platform does."""

from __future__ import annotations

import pytest
from extension_platform_sdk import to_major, to_minor
from extension_platform_sdk.money import decimals

from common import money
from common.money import CURRENCIES


@pytest.mark.spec("Contract 0 Conventions", "Hook calls carry minor units, the app API major ones")
@pytest.mark.parametrize(
    ("major", "currency", "minor"),
    [(12.5, "USD", 1250), (1250, "JPY", 1250), (1.005, "EUR", 101), (0.125, "KWD", 125), (0, "USD", 0)],
)
def test_minor_units_of_an_amount(major: float, currency: str, minor: int) -> None:
    assert to_minor(major, currency) == minor


@pytest.mark.parametrize(
    ("minor", "currency", "major"), [(1250, "USD", 12.5), (1250, "JPY", 1250), (1, "KWD", 0.001)]
)
def test_major_units_of_an_amount(minor: int, currency: str, major: float) -> None:
    assert to_major(minor, currency) == major


def test_every_currency_has_the_decimals_that_the_platform_gives_it() -> None:
    assert {each: decimals(each) for each in CURRENCIES} == {
        each: money.decimals(each) for each in CURRENCIES
    }

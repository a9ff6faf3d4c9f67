"""Cells of CSV files that spreadsheets would run."""

import csv
from decimal import Decimal
from typing import Any

import pytest

from common.web.csv_files import CsvLines


def cell(value: Any) -> str:
    ((read,),) = csv.reader([CsvLines().line([value])])
    return read


@pytest.mark.parametrize(
    "hidden", ["", " ", "\xa0", "\u200b", "\ufeff", "\u2060", "\u3000", "\x0b", "\x00", "\t", "\u3164 \u200d"]
)
@pytest.mark.parametrize("sign", "=+-@＝＋－＠﹦")
def test_formula_behind_what_nobody_sees_is_text(hidden: str, sign: str) -> None:
    assert cell(f"{hidden}{sign}1") == f"'{hidden}{sign}1"


@pytest.mark.parametrize(
    ("value", "safe"),
    [
        ("x;=1", "x;'=1"),
        ("x; +1;-1", "x;' +1;'-1"),
        ("x;\u200b=1", "x;'\u200b=1"),
        ("x\t=1", "x\t'=1"),
        ("x\n=1", "x\n'=1"),
        ("x|@1", "x|'@1"),
        (";=1", "';=1"),
        ("\tx", "'\tx"),
    ],
)
def test_formula_behind_what_other_countries_split_at_is_text(value: str, safe: str) -> None:
    assert cell(value) == safe


@pytest.mark.parametrize(
    "value", ["1 × Tea; 2 × Bread", "a - b", "a = b", "kim@example.com", "-", Decimal("-1.50"), -3, None, ""]
)
def test_usual_values_stay(value: Any) -> None:
    assert cell(value).lstrip("'") == ("" if value is None else str(value))
    assert cell(value).startswith("'") is (value == "-")

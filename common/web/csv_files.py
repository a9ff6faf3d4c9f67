"""CSV for spreadsheets, which run a cell that begins like a formula."""

import csv
import re
from collections.abc import Iterable
from typing import Any, Final

# What spreadsheets skip or don't show: white space, control characters, characters without a width.
_HIDDEN: Final = (
    r"\s\x00-\x1f\x7f-\xa0\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202f\u205f-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff"
)
# In some countries spreadsheets split at semicolons, and then quotes inside of a line don't count.
_SEPARATORS: Final = ";|\t\r\n\v\f"
_FORMULA: Final = "=+\\-@＝＋－＠﹦﹢﹣﹫⁼⁺⁻₌₊₋−"
_RUN: Final = re.compile(rf"(?<![{_HIDDEN}{_SEPARATORS}])[{_HIDDEN}{_SEPARATORS}]*+(?=[{_FORMULA}])")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")


class CsvLines:
    """Makes lines of a file in which all cells are quoted, and no text is a formula."""

    def __init__(self) -> None:
        self._writer = csv.writer(self, quoting=csv.QUOTE_ALL)

    def write(self, text: str) -> str:
        """For `csv.writer`, which returns what its file does."""
        return text

    def line(self, cells: Iterable[Any]) -> str:
        line: str = self._writer.writerow([_safe(cell) for cell in cells])
        return line


def _safe(cell: Any) -> Any:
    """Where a formula would begin is an apostrophe, which spreadsheets hide at the beginning of a cell."""
    if not isinstance(cell, str):
        return cell
    safe = _RUN.sub(_defused, cell)
    return f"'{safe}" if _CONTROL.match(safe) else safe


def _defused(found: re.Match[str]) -> str:
    run = found[0]
    if found.start() == 0:
        return f"'{run}"
    last = max(map(run.rfind, _SEPARATORS))
    return run if last < 0 else f"{run[: last + 1]}'{run[last + 1 :]}"

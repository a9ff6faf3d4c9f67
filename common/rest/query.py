"""Parses query strings strictly, and reports all problems at once."""

import re
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from common import lengths
from common.errors import ErrorDetail, Invalid
from common.times import parse_moment
from common.web.pagination import PageRequest, page_request, positive

MAX_TEXT = lengths.SEARCH
MAX_NAMES = 2_000  # characters of several names with their commas

# A "+" that was not encoded as %2B arrives as a space: "…T10:00:00 02:00".
LOST_PLUS = re.compile(r"(?<=\d) (?=\d\d:?\d\d$)")


class Query:
    """The filters of a list. A missing one gives None. Call `check()` after reading all of them."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = values
        self.problems: list[ErrorDetail] = []

    def page(self, *, default: int = 50, maximum: int = 100) -> PageRequest:
        try:
            return page_request(self.values, default=default, maximum=maximum)
        except Invalid as error:
            self.problems += error.details
            return PageRequest(page=1, limit=default)

    def limit(self, *, default: int, maximum: int) -> int:
        """The limit of a list without pages."""
        return min(positive(self.values, "limit", default, self.problems), maximum)

    def text(self, name: str) -> str | None:
        text = self.values.get(name)
        if text is None:
            return None
        if "\0" in text or len(text) > MAX_TEXT:
            self.wrong(name, f"Must be text of at most {MAX_TEXT} characters, without NUL.")
            return None
        return text

    def flag(self, name: str) -> bool | None:
        text = self.choice(name, ("true", "false"))
        return None if text is None else text == "true"

    def choice(self, name: str, allowed: Iterable[str]) -> str | None:
        text, names = self.values.get(name), list(allowed)
        if text is None or text in names:
            return text
        self.wrong(name, f"Must be one of: {', '.join(names)}.")
        return None

    def names(self, name: str, allowed: Collection[str]) -> list[str] | None:
        """Several, separated by commas."""
        text = self.values.get(name)
        if text is None:
            return None
        if len(text) > MAX_NAMES:
            self.wrong(name, f"Must be at most {MAX_NAMES:,} characters.")
            return None
        given = text.split(",")
        if unknown := [each for each in given if each not in allowed]:
            self.wrong(name, f"There is no {unknown[0]!r:.50}. Must be of: {', '.join(allowed)}.")
        return given

    def integer(self, name: str, *, default: int, least: int, most: int) -> int:
        text = self.values.get(name)
        if text is None:
            return default
        digits = text.lstrip("0")
        if text.isascii() and text.isdigit() and len(digits) <= len(str(most)):
            number = int(digits or "0")
            if least <= number <= most:
                return number
        self.wrong(name, f"Must be an integer from {least} to {most}.")
        return default

    def moment(self, name: str) -> datetime | None:
        text = self.values.get(name)
        if text is None:
            return None
        try:
            return parse_moment(LOST_PLUS.sub("+", text))
        except ValueError as error:
            self.wrong(name, str(error))
            return None

    def check(self) -> None:
        """Raises `Invalid` if anything read so far was wrong."""
        if self.problems:
            raise Invalid.fields(self.problems)

    def wrong(self, name: str, message: str) -> None:
        """Note a problem that only the caller sees."""
        self.problems.append({"field": name, "message": message})

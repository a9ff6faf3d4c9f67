"""Numbered pages: `{"data", "total", "page", "limit"}` (contract, section 0)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from common.errors import ErrorDetail, Invalid

# The largest integer that every JSON parser reads exactly (RFC 8259, 6). A page with this number is always empty, and
# its offset, at most a thousand times as large, fits into a bigint.
LARGEST = 2**53 - 1


@dataclass(frozen=True, slots=True)
class PageRequest:
    page: int
    limit: int

    @property
    def offset(self) -> int:
        return (self.page - 1) * self.limit

    @property
    def window(self) -> slice:
        return slice(self.offset, self.offset + self.limit)


def page_request(query: Mapping[str, str], *, default: int = 50, maximum: int = 100) -> PageRequest:
    """Parse `page` and `limit` from a query string.

    A limit above `maximum` is lowered to it, and a page above `LARGEST` to that. Raises `Invalid` for anything but
    integers of at least 1.
    """
    problems: list[ErrorDetail] = []
    page = positive(query, "page", 1, problems)
    limit = positive(query, "limit", default, problems)
    if problems:
        raise Invalid.fields(problems)
    return PageRequest(page=page, limit=min(limit, maximum))


def page_body(data: list[Any], *, total: int, request: PageRequest) -> dict[str, Any]:
    return {"data": data, "total": total, "page": request.page, "limit": request.limit}


def positive(query: Mapping[str, str], name: str, default: int, problems: list[ErrorDetail]) -> int:
    """An integer of at least 1, or the default. A problem is added to `problems`."""
    text = query.get(name)
    if text is None:
        return default
    digits = text.lstrip("0")
    if text.isascii() and text.isdigit() and digits:
        # Python refuses to parse thousands of digits.
        return min(int(digits), LARGEST) if len(digits) <= len(str(LARGEST)) else LARGEST
    problems.append({"field": name, "message": _("Must be an integer of at least 1.")})
    return default

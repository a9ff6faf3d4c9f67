"""Numbered pages: `{"data", "total", "page", "limit"}` (specification, "Paginated response shape")."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from common.errors import ErrorDetail, Invalid

# A page this far out is as empty as any past the end; without a bound the offset overflows a bigint.
LAST_PAGE = 10_000_000


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
    """Read `page` and `limit` of a query string.

    A limit above `maximum` is lowered to it. Raises `Invalid` for what is no integer of at least 1.
    """
    problems: list[ErrorDetail] = []
    page = _positive(query, "page", 1, problems)
    limit = _positive(query, "limit", default, problems)
    if problems:
        raise Invalid("; ".join(f"{p['field']}: {p['message']}" for p in problems), problems)
    return PageRequest(page=min(page, LAST_PAGE), limit=min(limit, maximum))


def page_body(data: list[Any], *, total: int, request: PageRequest) -> dict[str, Any]:
    return {"data": data, "total": total, "page": request.page, "limit": request.limit}


def _positive(query: Mapping[str, str], name: str, default: int, problems: list[ErrorDetail]) -> int:
    text = query.get(name)
    if text is None:
        return default
    if text.isascii() and text.isdigit() and len(text) <= 18 and int(text) >= 1:
        return int(text)
    problems.append({"field": name, "message": "Must be an integer of at least 1."})
    return default

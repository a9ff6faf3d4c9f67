"""How a shop describes itself: the one part that you write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol

Resource = Literal["products", "orders", "reviews", "pages"]
Row = dict[str, Any]

RESOURCES: tuple[Resource, ...] = ("products", "pages", "orders", "reviews")


class Shop(Protocol):
    """Your shop, as the platform reads it. Both methods read the shop's database at the moment they are called."""

    def ids(self, resource: Resource, since: datetime | None) -> Iterable[str]:
        """Return the ids of all rows of a kind, in any order. ``since`` leaves out those that were created earlier.

        An id is 1 to 100 characters of ``A-Z a-z 0-9 . _ ~ : -``.
        """
        ...

    def rows(self, resource: Resource, ids: Sequence[str]) -> Mapping[str, Row]:
        """Return the rows of these ids, at most 100, by id, with the fields of the guide and no version.

        An id that is left out isn't in the shop any more, or isn't to be seen by apps: it is deleted on the platform.
        """
        ...

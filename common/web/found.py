"""What a search over several kinds of things finds."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

MOST: Final = 5  # of a kind


@dataclass(frozen=True, slots=True)
class Found:
    """`kind` is a noun such as "Order". `title` and `detail` are what people typed, as plain text. `url` is a path or an address."""

    kind: str
    title: str
    detail: str
    url: str
    icon: str


ACTION: Final = "Action"  # the kind of what leads to something that the person may do


def actions(rows: Iterable[tuple[str, str, str]], detail: str) -> Iterator[Found]:
    """Rows of title, address and icon."""
    for title, url, icon in rows:
        yield Found(ACTION, title, detail, url, icon)

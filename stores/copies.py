"""What to look for in stored texts when a customer is erased: the words that name the person, and the ids of their records."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import quote, quote_plus
from uuid import UUID

from django.db.models import Q

from accounts.models import Business
from stores.customers import plain_phone
from stores.models import Order, Review

SHORTEST: Final = 2  # characters of what is looked for
SHORTEST_LINE: Final = 6
AT_ONCE: Final = 200  # alternatives of one pattern
_GAP: Final = r"(?:%20|[^0-9a-z]){0,3}"  # between two digits of a phone number, as people write them


@dataclass(frozen=True, slots=True)
class Copies:
    """A person's copies in one store. Without `words`, which nothing keeps, only records are looked for: what was being
    written while the person was erased.

    `since` is when the first record was made, and `copied_since` the time of the first copy. At `until` the last transaction that
    saw the person has ended.
    """

    business: Business
    order_ids: Sequence[UUID]
    review_ids: Sequence[UUID]
    words: Sequence[str]
    since: datetime
    copied_since: datetime
    until: datetime

    def in_words(self, *columns: str) -> Q:
        """Rows where one of these columns has a word of the person's."""
        return _any(columns, self.words)

    def in_records(self, *columns: str) -> Q:
        """The same, or the id of one of the person's records."""
        return _any(columns, [*self.words, *map(str, self.order_ids), *map(str, self.review_ids)])


# How long a request that has read the person's records may take to write what it logs, or to make a file.
UNDER_WAY: Final = timedelta(seconds=30)


def _any(columns: Iterable[str], alternatives: Sequence[str]) -> Q:
    found = Q(pk__in=[])
    for start in range(0, len(alternatives), AT_ONCE):
        pattern = "|".join(alternatives[start : start + AT_ONCE])
        for column in columns:
            found |= Q(**{f"{column}__iregex": pattern})
    return found


def words_of(orders: Iterable[Order], reviews: Iterable[Review]) -> list[str]:
    """Patterns for everything that names the person, in the spellings of JSON, of URLs, and of people."""
    texts, phones = set(), set()
    for order in orders:
        texts |= {
            order.customer_name,
            order.customer_email,
            order.address,
            order.note,
            *_lines(order.address),
        }
        phones.add(order.customer_phone)
    for review in reviews:
        texts |= {review.author_name, review.author_email, review.comment}
    found = {re.escape(each) for text in texts for each in _spellings(text.strip())}
    found |= {each for phone in phones for each in _phone(phone)}
    return sorted(found)


def _lines(address: str) -> Iterator[str]:
    """Those with a number: a street alone, or a town, says little, and others live there too."""
    for line in address.splitlines():
        if len(line.strip()) >= SHORTEST_LINE and any(map(str.isdigit, line)):
            yield line.strip()


def _spellings(text: str) -> set[str]:
    if len(text) < SHORTEST:
        return set()
    unescaped = json.dumps(text, ensure_ascii=False)[1:-1]
    return {text, unescaped, json.dumps(text)[1:-1], quote(text), quote_plus(text)}


def _phone(written: str) -> set[str]:
    digits = re.sub(r"\D", "", plain_phone(written))
    return {_GAP.join(digits)} if len(digits) >= SHORTEST_LINE else set(map(re.escape, _spellings(written)))

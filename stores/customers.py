"""A store's customers. There are no accounts: a person is one e-mail address or one phone number (contract, section 12). And what to look for in
stored texts when a customer is erased: the words that name the person, and the ids of their records.
"""

import html
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import Any, Final, Self, TypeVar
from unicodedata import decimal, normalize
from urllib.parse import unquote
from uuid import UUID

from django.db.models import CharField, Model, Q, QuerySet, UUIDField

from accounts.models import Business
from common.contacts import NotAContact, email_key, kept_email_key, kept_phone_key, phone_key
from common.db.compiled import Compiled, Param
from common.db.fields import complete
from common.db.long_lists import CountOfSome
from common.errors import Invalid
from stores.enums import OPEN
from stores.models import LINES, Order, Review

MOST_COUNTED: Final = 1000
ONE_OF_TWO: Final = "Enter an e-mail address or a phone number, one of the two."


@dataclass(frozen=True, slots=True)
class Person:
    """The normal form of either an e-mail address or a phone number (`common.contacts`); the other is empty."""

    email: str = ""
    phone: str = ""

    @classmethod
    def of(cls, *, email: str = "", phone: str = "", store: Business | None = None) -> Self:
        """By what somebody typed. Raises `Invalid` unless it is exactly one address or one number.

        An address of before there was the rule, with a quoted local part, say, still finds what `store` has of it.
        """
        email, phone = email.strip(), phone.strip()
        if bool(email) == bool(phone):
            raise Invalid.field("email", ONE_OF_TWO)
        try:
            return cls(email=email_key(email)) if email else cls(phone=phone_key(phone))
        except NotAContact as error:
            before = cls(email=kept_email_key(email))
            if email and store and not error.is_hidden and _is_known(store, before):
                return before
            raise Invalid.field("email" if email else "phone", str(error.message)) from error

    def __str__(self) -> str:
        return self.email or self.phone

    @property
    def fields(self) -> dict[str, str]:
        """What finds the person again."""
        return {"email": self.email} if self.email else {"phone": self.phone}


def orders_of(business: Business, person: Person) -> QuerySet[Order]:
    """All of the person's orders, newest first, with lines and payment."""
    rows = Order.objects.filter(business=business).select_related("payment", "business")
    rows = rows.prefetch_related(LINES).order_by("-id")
    column = "customer_email" if person.email else "customer_phone"
    return rows.filter(_with_key(Order, business, column, str(person)))


def count_orders(business: Business, email: str) -> int:
    """How many orders of the store carry an e-mail address, which is in its normal form, at most `MOST_COUNTED`. Two statements."""
    counted = _COUNTED.rows(business=business.pk, key=email)[0][0]
    without_key = _without_key(Order, business, "customer_email", email)
    return min(counted + len(without_key), MOST_COUNTED)


def _counted() -> QuerySet[Any, Any]:
    business, key = Param("business", UUIDField()), Param("key", CharField())
    found: Any = Order.objects.filter(business=business, customer_email_key=key, customer_email_key__gt="")
    most = found.order_by().values("pk")[:MOST_COUNTED]
    return Business.objects.filter(pk=business).order_by().values_list(CountOfSome(most))


_COUNTED: Final[Compiled[Any]] = Compiled(_counted, prepared_as="stores_orders_of_email")


def reviews_of(business: Business, person: Person) -> QuerySet[Review]:
    """The reviews that came with the address, or from a browser with which the person has ordered. Newest first."""
    ordered = orders_of(business, person).exclude(cart_digest="").order_by().values("cart_digest")
    theirs: Any = Q(cart_digest__in=ordered) & ~Q(cart_digest="")
    rows = Review.objects.filter(business=business)
    if person.email:
        theirs |= _with_key(Review, business, "author_email", person.email)
    return rows.filter(theirs).select_related("product").order_by("-id")


def _with_key(model: type[Model], business: Business, column: str, key: str) -> Q:
    """Those whose column has this normal form. `__gt` lets PostgreSQL use the index, which leaves out the empty ones.

    Rows that a process of the version before has written have no key yet. They are few, and read one by one.
    """
    found = Q((f"{column}_key", key), (f"{column}_key__gt", ""))
    written = _without_key(model, business, column, key)
    return found | Q(pk__in=written) if written else found


def _without_key(model: type[Model], business: Business, column: str, key: str) -> list[UUID]:
    key_of: Any = model._meta.get_field(f"{column}_key")
    return [
        pk for pk, typed in _keyless(model, column).rows(business=business.pk) if key_of.key(typed) == key
    ]


@cache
def _keyless(model: Any, column: str) -> Compiled[Any]:
    rows = model.objects.filter((f"{column}_key", None), business=Param("business", UUIDField()))
    return Compiled(lambda: rows.values_list("pk", column), prepared_as=f"stores_without_{column}_key")


def _is_known(store: Business, person: Person) -> bool:
    return orders_of(store, person).exists() or reviews_of(store, person).exists()


def open_order(business: Business, person: Person) -> Order | None:
    """The oldest of the person's orders that is neither delivered nor cancelled."""
    return orders_of(business, person).filter(status__in=OPEN).order_by("id").first()


def complete_keys() -> int:
    """Returns how many rows got theirs. Safe to repeat."""
    done = complete(Order, {"customer_email": kept_email_key, "customer_phone": kept_phone_key})
    return done + complete(Review, {"author_email": kept_email_key})


# --- What names a customer ---------------------------------------------------------------------------

# Whatever shoppers have typed, a look costs as much as the text is long: it is cut into words once, and each place is looked up
# in a set. Words count where apps and people write freely. A copy of the record itself is found by the record's id alone: an app may
# have another customer's answer with the same name in it.

SHORTEST: Final = 3  # letters of a name: "Li" and "An" are words of others' texts, too
SHORTEST_LINE: Final = 6  # of an address, and digits of a phone number
SHORTEST_TEXT: Final = 16  # of a note or a comment: shorter ones, such as "Very good", are everybody's
MOST_WORDS: Final = 8  # of one phrase; a longer text is known by its beginning
MOST_DIGITS: Final = 40
LONGEST_ADDRESS: Final = 320  # characters, invisible ones included
AT_ONCE: Final = 500  # rows

# Scripts without spaces: each sign is a word, and says as much as two letters.
_SIGNS: Final = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"[{_SIGNS}]|[^\W_{_SIGNS}]+")
_SIGN: Final = re.compile(f"[{_SIGNS}]")
_PIECE: Final = re.compile(r"""[^\s"'<>,;:()\[\]{}|\\=&?/]+""")  # an e-mail address is one
_ESCAPE: Final = re.compile(r'\\(?:u([0-9a-fA-F]{4})|([bfnrt])|(["/]))')
_NO_ENTITY: Final = re.compile(r"&#\w{8,}")  # a number of any length, which costs more than it is long
_KEY: Final = re.compile(r'"\w+"\s*:')
_UUID: Final = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Words:
    """All that names a person: phrases of whole words, e-mail addresses, and digits of phone numbers."""

    phrases: frozenset[tuple[str, ...]] = frozenset()
    emails: frozenset[str] = frozenset()
    phones: frozenset[str] = frozenset()

    @classmethod
    def of(cls, orders: Iterable[Order], reviews: Iterable[Review], *, shortest: int = SHORTEST) -> Self:
        names, texts, emails, phones = set(), set(), set(), set()
        for order in orders:
            names.add(order.customer_name)
            texts |= {order.note, order.address}
            names |= set(_lines(order.address))
            emails.add(order.customer_email)
            phones.add(order.customer_phone)
        for review in reviews:
            names.add(review.author_name)
            texts.add(review.comment)
            emails.add(review.author_email)
        digits = {each: kept_phone_key(each).lstrip("+") for each in phones}
        names |= {each for each, found in digits.items() if len(found) < SHORTEST_LINE}  # "ask at the bar"
        known = [found for found in digits.values() if len(found) >= SHORTEST_LINE]
        found = [*_phrases(names, shortest), *_phrases(texts, SHORTEST_TEXT)]
        # Folded before it is read, "straße.example" has another key than by itself.
        addresses = {kept_email_key(each) for each in [*emails, *map(_plain, emails)]} - {""}
        return cls(
            frozenset(found), frozenset(addresses), frozenset([*known, *(f"00{each}" for each in known)])
        )

    @classmethod
    def read(cls, stored: str | None) -> Self:
        """What `stored` was made of."""
        phrases, emails, phones = json.loads(stored) if stored else ((), (), ())
        keys = frozenset(
            map(kept_email_key, emails)
        )  # the version before has stored addresses as they are written
        return cls(frozenset(map(tuple, phrases)), keys, frozenset(phones))

    @property
    def stored(self) -> str:
        return json.dumps([sorted(self.phrases), sorted(self.emails), sorted(self.phones)])

    def are_in(self, text: str) -> bool:
        plain = _plain(text)
        if self.emails and any(self._is_theirs(each) for each in _addresses(plain)):
            return True
        words = _words(plain)
        return (self.phones and not self.phones.isdisjoint(_numbers(words))) or self._are_said(words)

    def _is_theirs(self, address: str) -> bool:
        """Making the key of an address costs time, and isn't needed where the text says it, or another name before the @."""
        name = address.rpartition("@")[0]
        if (
            address.isascii()
            or len(address) > LONGEST_ADDRESS
            or (name.isascii() and name not in self._names)
        ):
            return address in self.emails
        return kept_email_key(address) in self.emails

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(each.rpartition("@")[0] for each in self.emails)

    def _are_said(self, words: Sequence[str]) -> bool:
        for start, word in enumerate(words):
            if word not in self._beginnings:
                continue
            said = tuple(words[start : start + MOST_WORDS])
            if any(said[:length] in self.phrases for length in range(1, len(said) + 1)):
                return True
        return False

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        return frozenset(phrase[0] for phrase in self.phrases)


@dataclass(frozen=True)
class Copies:
    """A person's copies in one store, who was erased `at` that time."""

    business: Business
    order_ids: Sequence[UUID]
    review_ids: Sequence[UUID]
    words: Words
    at: datetime

    def name(self, *texts: str) -> bool:
        """Whether one of these texts, which anybody may have written, names the person or has the id of a record."""
        return self.are_of_records(*texts) or any(self.words.are_in(each) for each in texts if each)

    def are_of_records(self, *texts: str) -> bool:
        """Whether one of these texts has the id of one of the person's records."""
        return any(not self._ids.isdisjoint(_UUID.findall(each.lower())) for each in texts)

    @cached_property
    def _ids(self) -> frozenset[str]:
        return frozenset(map(str, [*self.order_ids, *self.review_ids]))


def blank(rows: QuerySet[Row], changes_of: Callable[[Row], dict[str, Any]]) -> None:
    """Change the rows that need it, each by a statement of its own: a long look locks nothing, and may end anywhere."""
    for row in rows.iterator(chunk_size=AT_ONCE):
        changes = {name: value for name, value in changes_of(row).items() if getattr(row, name) != value}
        if changes:
            type(row)._base_manager.filter(pk=row.pk).update(**changes)


def _lines(address: str) -> Iterator[str]:
    """Those with a number: a street alone, or a town, says little, and others live there too."""
    for line in address.splitlines():
        if len(line.strip()) >= SHORTEST_LINE and any(map(str.isdigit, line)):
            yield line


def _phrases(texts: Iterable[str], shortest: int) -> Iterator[tuple[str, ...]]:
    for text in texts:
        words = _words(_plain(text))
        if sum(2 if _SIGN.match(each) else len(each) for each in words) >= shortest:
            yield tuple(words[:MOST_WORDS])


def _words(plain: str) -> list[str]:
    """A name within somebody's e-mail address isn't the person's, and "name" or "test" are keys in any JSON."""
    without_addresses = _PIECE.sub(lambda piece: " " if "@" in piece[0] else piece[0], plain)
    return _WORD.findall(_KEY.sub(" ", without_addresses))


def _plain(text: str) -> str:
    """As people read it: in one case, without the escapes of JSON, of URLs and of HTML, also of one in another."""
    for _ in range(2):
        if "\\" in text:
            text = _ESCAPE.sub(_unescaped, text)
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs are one sign
        text = html.unescape(_NO_ENTITY.sub(" ", unquote(text)))
    return normalize("NFKC", normalize("NFKC", text).casefold())


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else found[3] or " "


def _addresses(plain: str) -> Iterator[str]:
    if "@" in plain:
        yield from (each.strip(".!*") for each in _PIECE.findall(plain) if "@" in each)


def _numbers(words: Sequence[str]) -> Iterator[str]:
    """Every number that groups of digits make: people write a phone number in any."""
    for start, word in enumerate(words):
        joined = ""
        for part in words[start : start + MOST_DIGITS] if word.isdecimal() else ():
            joined += part if part.isascii() else "".join(str(decimal(each, "")) for each in part)
            if not part.isdecimal() or len(joined) > MOST_DIGITS:
                break
            if len(joined) >= SHORTEST_LINE:
                yield joined

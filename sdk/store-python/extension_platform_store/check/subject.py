"""The shop under check, as rules see it: its driver, what it has called, and things that are made for a rule."""

from __future__ import annotations

import random
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from .calls import Call, Record, SentRow, reason_of
from .door import Apps, Door
from .driver import About, Bill, Driver, Person
from .verdicts import NotTried, RuleBroken

PATIENCE = 30.0  # seconds
NO_DECIMALS = frozenset("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF".split())
THREE_DECIMALS = frozenset("BHD IQD JOD KWD LYD OMR TND".split())
LETTERS = "abcdefghijkmnpqrstuvwxyz"

Looks = Callable[[Record], bool]


@dataclass(frozen=True, slots=True)
class Item:
    """A product that the check made."""

    id: str
    name: str
    price: Decimal
    stock: int


@dataclass(slots=True)
class Subject:
    driver: Driver
    door: Door
    store: str
    patience: float = PATIENCE
    """Seconds that a row may take."""
    about: About = field(default_factory=lambda: About())
    key: str = ""
    secret: str = ""
    business: Record = field(default_factory=dict)
    """The store's record at the platform."""
    reads_orders: bool = False
    """Whether an app that is installed in the store reads orders."""
    erased: tuple[Person, str, str] | None = None
    """Somebody who was erased, what the shop kept of them before, and the id of their order."""

    # Connecting

    def connect(self) -> None:
        """Start the shop with a new key and secret, and wait until it has opened its store."""
        self.key, self.secret = f"fbsk_{secrets.token_hex(20)}", _secret()
        self.door.keys.add(self.key)
        self.about = self.driver.connect(self.door.url, self.key, self.secret)
        self.door.wait(lambda: any(call.reply for call in self.door.calls), self.patience)
        path = f"/store-api/stores/{self.store}"
        self.business = self.door.ask_platform("GET", path).record
        self.reads_orders = bool(self.door.ask_platform("GET", f"{path}/wanted").record.get("orders"))

    # Money

    @property
    def decimals(self) -> int:
        currency = self.business.get("currency", "")
        return 0 if currency in NO_DECIMALS else 3 if currency in THREE_DECIMALS else 2

    def minor(self, amount: Any) -> int:
        """An amount in major units as minor units."""
        return int(Decimal(str(amount)) * 10**self.decimals)

    def major(self, amount: int) -> Decimal:
        return Decimal(amount).scaleb(-self.decimals)

    # Things for a rule

    def product(self, price: Decimal | None = None, *, name: str = "", arrives: bool = True) -> Item:
        """A new product, which is at the platform unless ``arrives`` is False. Its price has all decimals of the currency."""
        name = name or f"Check {word()}"
        price = price or self.major(random.randrange(101, 999, 2))  # noqa: S311 - no secret
        mark = len(self.door.calls)
        item = Item(self.driver.save_product(None, name=name, price=price, stock=100), name, price, 100)
        if arrives:
            self.row("products", item.id, mark, f"named {name!r}", has("name", name))
        return item

    def change(self, item: Item, **fields: Any) -> Item:
        """Change a product in the shop."""
        new = replace(item, **fields)
        saved = self.driver.save_product(item.id, name=new.name, price=new.price, stock=new.stock)
        return replace(new, id=saved)

    def person(self) -> Person:
        """A new person, with a name, address and number of their own."""
        name = word()
        number = "".join(secrets.choice("23456789") for _ in range(7))
        return Person(f"{name.title()} {word().title()}", f"{name}@{word()}.example.com", f"+1202{number}")

    def buy(self, *items: Item, person: Person | None = None, quantity: int = 2) -> Bill:
        """Place an order."""
        return self._checkout(items, person, quantity, confirm=True)

    def look(self, *items: Item, person: Person | None = None, quantity: int = 2) -> Bill:
        """Look at the total without placing an order."""
        return self._checkout(items, person, quantity, confirm=False)

    def _checkout(
        self, items: tuple[Item, ...], person: Person | None, quantity: int, *, confirm: bool
    ) -> Bill:
        lines = [(item.id, quantity) for item in items]
        return self.driver.checkout(lines, person or self.person(), confirm=confirm)

    def order(self, *items: Item, person: Person | None = None) -> tuple[str, SentRow, Bill]:
        """A new order that is at the platform: its id, its row, and what its shopper saw."""
        self.needs_orders()
        mark = len(self.door.calls)
        bill = self.buy(*(items or (self.product(),)), person=person)
        placed = placed_by(bill)
        return placed, self.row("orders", placed, mark, "that was placed"), bill

    # Looking

    def needs_orders(self) -> None:
        if not self.reads_orders:
            raise NotTried("No app that is installed in this store reads orders. Install one first.")

    def rows(self, resource: str, row_id: str, since: int = 0) -> list[SentRow]:
        """All pushes of a row."""
        return [
            row for call in self.door.since(since) for row in call.rows
            if (row.resource, row.id) == (resource, row_id)
        ]  # fmt: skip

    def pushes(self, row_id: str, since: int) -> list[Call]:
        """The calls that pushed a row, alone or with others."""
        return [call for call in self.door.since(since) if any(row.id == row_id for row in call.rows)]

    def row(
        self, resource: str, row_id: str, since: int, what: str, looks: Looks = lambda _: True, *, deleted: bool = False
    ) -> SentRow:  # fmt: skip
        """Wait until the platform has taken this row. ``what`` says which one it is, as "named 'Rye'"."""

        def found() -> Iterator[SentRow]:
            for row in self.rows(resource, row_id, since):
                if row.is_taken and (row.data is None) == deleted and (deleted or looks(row.data or {})):
                    yield row

        if self.door.wait(lambda: next(found(), None) is not None, self.patience):
            return next(found())
        seen = describe(self.rows(resource, row_id, since)) or self._refused_calls(since)
        raise RuleBroken(
            f"Expected the row of {resource} {row_id} {what} within {self.patience:g} s. Your shop {seen}."
        )

    def pushed(self, resource: str, row_id: str, since: int, looks: Looks) -> SentRow | None:
        """Wait for a push of this row that looks so, whatever the platform answers; None if none came."""

        def found() -> SentRow | None:
            rows = self.rows(resource, row_id, since)
            return next(
                (row for row in rows if row.data is not None and row.result and looks(row.data)), None
            )

        self.door.wait(lambda: found() is not None, self.patience)
        return found()

    def _refused_calls(self, since: int) -> str:
        """What the shop did in place of pushing the row."""
        calls = [call for call in self.door.since(since) if call.is_push] or self.door.since(since)
        refused = {
            f"{call.method} {call.path} with {call.reply.status} ({reason_of(call.reply.record) or 'no reason'})"
            for call in calls
            if call.reply and call.reply.status >= 400
        }
        if refused:
            return f"pushed nothing that was accepted: the platform answered {', '.join(sorted(refused))}"
        return (
            "pushed other rows, and not this one" if any(call.is_push for call in calls) else "pushed nothing"
        )

    def settle(self) -> None:
        """Leave nothing of a rule to the next one."""
        self.door.apps, self.door.placements, self.door.reads_orders = Apps(), None, True
        self.door.keys.add(self.key)


def has(name: str, value: object) -> Looks:
    """Whether a row has this value in a field."""
    return lambda data: bool(data.get(name) == value)


def describe(rows: list[SentRow]) -> str:
    """The last push of a row; empty without one."""
    if not rows:
        return ""
    last = rows[-1]
    what = "its deletion" if last.data is None else f"it as {last.data}"
    became = (
        f"refused it: {last.refusal}" if last.refusal else f"answered {last.result.get('result', 'nothing')}"
    )
    return f"pushed {what} with version {last.version}, and the platform {became}"


def placed_by(bill: Bill) -> str:
    """The id of the order. Raises ``RuleBroken`` if none was placed."""
    if bill["order"] is None:
        raise RuleBroken(
            f"Expected that the order is placed. Your shop placed none, and said: {text_of(bill)}."
        )
    return bill["order"]


def text_of(bill: Bill) -> str:
    return repr(bill["message"][:200])


def word() -> str:
    """A new name."""
    return "".join(secrets.choice(LETTERS) for _ in range(10))


def _secret() -> str:
    """Of the form that the platform's have: the part after the last ``_`` is base64."""
    return f"whsec_{secrets.token_hex(20)}"

"""The driver: nine functions by which the check acts on your shop, as shoppers and your own people do.

It is a Python module of yours, with one function for each method of ``Driver``, whatever language your shop is in. A function
that your shop has no use for raises ``NotImplementedError`` with the reason: rules that need it are skipped, and say why.
Whatever else a function raises fails the rule that called it.
"""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any, NotRequired, Protocol, TypedDict, cast

from .verdicts import NotTried, RuleBroken


class About(TypedDict):
    """What the check has to know of the shop that it drives."""

    commands: NotRequired[str]
    """The ``commands`` URL of the shop, as this machine reaches it. Without it, apps only read."""
    page: NotRequired[str]
    """The URL of a page on which apps may show something. Without it, apps show nothing in the shop."""
    paths: NotRequired[Sequence[Sequence[tuple[str, str]]]]
    """The ways that an order can go from the state in which it is placed: the shop's own name of each state, and the status
    that apps read there. For instance ``[[("Packed", "PREPARING"), ("Sent", "DELIVERED")], [("Void", "CANCELLED")]]``."""


@dataclass(frozen=True, slots=True)
class Person:
    """A shopper who is made for the check."""

    name: str
    email: str
    phone: str
    """In international form, such as +12025550123."""


class Bill(TypedDict):
    """What a shopper saw at the end of the checkout."""

    total: Decimal
    """What there was to pay, in major units; 0 if the shop showed no total."""
    order: str | None
    """The id of the order's row; None if none was placed."""
    message: str
    """The text of the page where the shopper ended: of a refusal, the reason is in it."""
    seconds: float
    """How long the slowest of the shop's answers took, of all that this shopper waited for."""


class Driver(Protocol):
    """What your module has. Ids are those of the rows: texts. Money is in major units."""

    def connect(self, platform: str, key: str, secret: str) -> About:
        """Have the shop use the platform at this URL, with this key and this secret for commands.

        Start the shop and its sender, or start them again. Return once the shop answers. The check calls it first, and again
        with another key.
        """
        ...

    def save_product(self, product: str | None, *, name: str, price: Decimal, stock: int) -> str:
        """Make a product, or change one: as your own people do, with what follows in the shop. Return its id.

        ``product`` may be the id of a deleted one: make it again, under its own id or under a new one. The check may call this
        in several threads at once.
        """
        ...

    def delete_product(self, product: str) -> None:
        """Delete a product."""
        ...

    def checkout(self, items: Sequence[tuple[str, int]], person: Person, *, confirm: bool) -> Bill:
        """Put products, each with its quantity, into a new basket, and go to where the shopper sees the total.

        With ``confirm`` place the order. Each call is a shopper of its own, and each is asked for a delivery where the shop delivers.
        """
        ...

    def move_order(self, order: str, state: str) -> None:
        """Move an order to a state of the shop, by its own name, as your own people do."""
        ...

    def erase(self, person: Person) -> None:
        """Erase a customer, as your own people do when somebody asks them to."""
        ...

    def dump(self) -> str:
        """Return all that the shop keeps, as text: its whole database, with the tables of the client."""
        ...

    def open_apps(self, next_page: str | None, *, signed_in: bool) -> str | None:
        """Press **Apps** in the shop, or come to its sign-in URL with ``next_page`` as ``next``, and follow nothing.

        Return the ``Location`` to which the shop redirects, None if it doesn't. With ``signed_in`` as an owner who is signed in to
        the shop, else as somebody who isn't.
        """
        ...

    def restart_sender(self, *, compare: bool) -> None:
        """End what pushes rows by SIGKILL, wherever it is, and start it again. With ``compare`` it compares both sides now.

        It needn't wait until the sender works.
        """
        ...


FUNCTIONS = tuple(
    name for name, _ in inspect.getmembers(Driver, inspect.isfunction) if not name.startswith("_")
)


class DriverError(Exception):
    """Raised for a file that is no driver. The message says what is missing."""


def load_driver(file: Path) -> Driver:
    """Import a driver from its file. Its folder is on ``sys.path``, so that it may import its neighbours."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None or not file.is_file():
        raise DriverError(f"{file} is no Python file.")
    sys.path.insert(0, str(file.parent.resolve()))
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise DriverError(f"{file} can't be imported: {type(error).__name__}: {error}") from error
    return driver_of(module)


def driver_of(module: ModuleType | object) -> Driver:
    """Return it as a driver if it has all nine functions. Raises ``DriverError`` that names the missing ones."""
    missing = [name for name in FUNCTIONS if not callable(getattr(module, name, None))]
    if missing:
        raise DriverError(f"The driver has no function {', '.join(missing)}.")
    return cast(Driver, _Driven(module))


class _Driven:
    """Tells what the driver raises in the words of rules."""

    def __init__(self, module: object) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._module, name)

        def driven(*args: Any, **named: Any) -> Any:
            try:
                return function(*args, **named)
            except NotImplementedError as error:
                raise NotTried(str(error) or f"The driver has no {name}.") from error
            except Exception as error:
                raise RuleBroken(f"The driver failed in {name}: {type(error).__name__}: {error}") from error

        return driven

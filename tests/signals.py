"""Listening to Django signals for as long as a `with` block runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest
from django.dispatch import Signal

from stores import signals
from stores.models import Order, Payment, Product, Review

ROWS = (Order, Payment, Product, Review)


@contextmanager
def connected(signal: Signal, receiver: Callable[..., object], sender: Any = None) -> Iterator[None]:
    """Call `receiver` in the sender's transaction, after the product's own receivers. It may raise."""
    signal.connect(receiver, sender=sender)
    try:
        yield
    finally:
        signal.disconnect(receiver, sender=sender)


@contextmanager
def heard(signal: Signal) -> Iterator[list[dict[str, Any]]]:
    """Collect the arguments of each call."""
    calls: list[dict[str, Any]] = []

    def listen(sender: object, **arguments: Any) -> None:
        arguments.pop("signal")
        calls.append(arguments)

    with connected(signal, listen):
        yield calls


def breaking(error: str) -> Callable[..., object]:
    """Make a receiver that raises RuntimeError, so that the sender's transaction rolls back."""

    def fail(*args: object, **arguments: object) -> None:
        raise RuntimeError(error)

    return fail


class Heard(NamedTuple):
    name: str
    arguments: dict[str, Any]


class Ear(list[Heard]):
    @property
    def names(self) -> list[str]:
        return [heard.name for heard in self]

    def only(self, name: str) -> dict[str, Any]:
        (heard,) = [heard for heard in self if heard.name == name]
        return heard.arguments


@pytest.fixture
def ear() -> Iterator[Ear]:
    """Everything the shop says, in order. It says nothing of a row but by its record."""
    heard = Ear()
    listeners = []
    for name, signal in vars(signals).items():
        if isinstance(signal, Signal):

            def listen(sender: Any, _name: str = name, **arguments: Any) -> None:
                assert not any(isinstance(each, ROWS) for each in arguments.values()), "Send a record of it."
                heard.append(Heard(_name, arguments))

            signal.connect(listen)
            listeners.append((signal, listen))
    yield heard
    for signal, listen in listeners:
        signal.disconnect(listen)

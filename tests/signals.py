"""Listening to Django signals for as long as a `with` block runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.dispatch import Signal


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

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.dispatch import Signal

from stores import signals


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
    """Everything the shop says, in order."""
    heard = Ear()
    listeners = []
    for name, signal in vars(signals).items():
        if isinstance(signal, Signal):

            def listen(sender: Any, _name: str = name, **arguments: Any) -> None:
                heard.append(Heard(_name, arguments))

            signal.connect(listen)
            listeners.append((signal, listen))
    yield heard
    for signal, listen in listeners:
        signal.disconnect(listen)

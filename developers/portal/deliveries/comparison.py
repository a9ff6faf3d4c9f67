"""Compares the requests of two deliveries: what differs in their headers and bodies."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from webhooks.messages.message import Message

# These differ in every request, and explain nothing.
ALWAYS_DIFFERENT: Final = frozenset(
    name.lower()
    for name in (
        "X-Webhook-Timestamp", "X-Webhook-Signature", "X-Webhook-Event-Uid", "X-Service-Event-Id", "X-Feed-Cursor",
        "X-Request-Id", "traceparent", "webhook-id", "webhook-timestamp", "webhook-signature",
    )
)  # fmt: skip
MISSING: Final = "—"


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """One header or field of the body. `kind` is "changed", "added" or "removed"."""

    name: str
    worked: str
    failed: str
    kind: str


def differing_headers(worked: Message, failed: Message) -> list[ComparedLine]:
    return _lines(_explaining(worked.headers), _explaining(failed.headers))


def differing_fields(worked: Message, failed: Message) -> list[ComparedLine]:
    """The fields of the JSON bodies by path, such as `data.items[0].price`."""
    return _lines(
        dict(_flat("", orjson.loads(worked.body))),
        dict(_flat("", orjson.loads(failed.body))),
    )


def _explaining(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in ALWAYS_DIFFERENT}


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from _flat(f"{path}.{name}" if path else name, each)
    elif isinstance(value, list) and value:
        for index, each in enumerate(value):
            yield from _flat(f"{path}[{index}]", each)
    else:
        yield path, orjson.dumps(value).decode()


def _lines(worked: Mapping[str, str], failed: Mapping[str, str]) -> list[ComparedLine]:
    names = [*failed, *(name for name in worked if name not in failed)]
    return [
        ComparedLine(name, worked.get(name, MISSING), failed.get(name, MISSING), _kind(name, worked, failed))
        for name in names
        if worked.get(name) != failed.get(name)
    ]


def _kind(name: str, worked: Mapping[str, str], failed: Mapping[str, str]) -> str:
    if name not in worked:
        return "added"
    return "changed" if name in failed else "removed"

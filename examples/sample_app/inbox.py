"""The webhooks that arrived, accepted and refused: the newest 200, in memory and in a file."""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .files import append_private, write_private

KEPT = 200


@dataclass(frozen=True, slots=True)
class Received:
    """One call. Of an unverified one the ids and the event are what the caller claimed, ``data`` is its body's text.

    ``reason`` is ``None`` for an accepted call; ``repeat`` marks a retry of one that was processed before.
    """

    number: int
    received_at: str
    status: int
    verified: bool
    reason: str | None
    repeat: bool
    event: str
    timestamp: str | None
    delivery_id: str | None
    webhook_id: str | None
    business_id: str | None
    data: Any

    def as_json(self) -> dict[str, Any]:
        """With the names of ``/received.json``: ``receivedAt, verified, reason, event, deliveryId, …``."""
        return {_camel(name): value for name, value in asdict(self).items()}


class Inbox:
    """Appends each call to a JSON-lines file, and cuts that back when it has twice the lines it needs.

    Safe to use from several threads. ``changes`` grows with each write, as in ``ConnectionStore``.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._calls = deque(_load(path), maxlen=KEPT)
        self._lines = KEPT * 2  # unknown, so the first call cuts the file back
        self.changes = 0

    def newest_first(self) -> list[Received]:
        """Every call that is kept."""
        with self._lock:
            return list(reversed(self._calls))

    def add(self, **fields: Any) -> Received:
        """Keep a call; takes the fields of ``Received`` but its number, and returns it with one."""
        with self._lock:
            number = self._calls[-1].number + 1 if self._calls else 1
            call = Received(number=number, **fields)
            self._calls.append(call)
            if self._lines >= KEPT * 2:
                self._rewrite()
            else:
                append_private(self._path, _line(call))
                self._lines += 1
            self.changes += 1
        return call

    def forget(self, business_id: str, webhook_id: str) -> int:
        """Delete every call of a store, in memory and on disk, and return how many; refused ones are found by their webhook."""
        with self._lock:
            left = [
                call
                for call in self._calls
                if call.business_id != business_id and call.webhook_id != webhook_id
            ]
            deleted = len(self._calls) - len(left)
            self._calls = deque(left, maxlen=KEPT)
            self._rewrite()
            self.changes += 1
        return deleted

    def _rewrite(self) -> None:
        write_private(self._path, "".join(_line(call) + "\n" for call in self._calls))
        self._lines = len(self._calls)


def _line(call: Received) -> str:
    return json.dumps(asdict(call))


def _load(path: Path) -> list[Received]:
    """Read what is there. A line cut short by a crash costs only itself."""
    try:
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    except FileNotFoundError:
        return []
    calls = []
    for line in lines:
        try:
            calls.append(Received(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return calls


def _camel(name: str) -> str:
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)

"""A call that the shop made, and the rows that it carried."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

Record = dict[str, Any]

TAKEN = ("created", "updated", "unchanged", "deleted")
"""Results of a row that the platform has now as the shop has it."""

_STORE = re.compile(r"/store-api/stores/([^/?]+)([^?]*)")
_ROW = re.compile(r"/(products|orders|reviews|pages)/([^/]+)")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the shop gets."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, status: int, record: Any, **headers: str) -> Reply:
        """One of JSON. Names of headers have ``_`` for ``-``."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return cls(status, json.dumps(record).encode(), {"Content-Type": "application/json"} | sent)

    @property
    def record(self) -> Record:
        """Its JSON object; empty if it has none."""
        return _object(self.body)


def reason_of(error: Record) -> str:
    """What the platform says is wrong: in which fields, if it names them."""
    details = [f"{each.get('field')}: {each.get('message')}" for each in error.get("details") or []]
    return ", ".join(details) or str(error.get("message") or "")


@dataclass(frozen=True, slots=True)
class SentRow:
    """A row in a call, and what the platform made of it."""

    resource: str
    id: str
    version: int
    data: Record | None
    """None for a row that is deleted."""
    force: bool
    result: Record
    """As the platform answered; empty if the shop got no answer of the platform."""

    @property
    def is_taken(self) -> bool:
        return self.result.get("result") in TAKEN

    @property
    def refusal(self) -> str:
        """Why the platform refused it; empty if it didn't."""
        return reason_of(self.result.get("error") or {})


@dataclass(slots=True)
class Call:
    """A request of the shop. ``body`` is its JSON object, empty without one; ``reply`` is None as long as there is none."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    raw: bytes
    at: float = field(default_factory=time.monotonic)
    reply: Reply | None = None
    answered: Reply | None = None
    """What the platform answered, whatever the shop got."""
    instead: Record | None = None
    """What the platform gets in place of the body."""

    @property
    def key(self) -> str:
        return self.headers.get("authorization", "").removeprefix("Bearer ")

    @property
    def store(self) -> str | None:
        found = _STORE.match(self.path)
        return unquote(found[1]) if found else None

    @property
    def rest(self) -> str:
        """The path below the store, such as ``/rows``; empty for the store itself and for other paths."""
        found = _STORE.match(self.path)
        return found[2] if found else ""

    @property
    def body(self) -> Record:
        is_packed = self.headers.get("content-encoding") == "gzip"
        return _object(gzip.decompress(self.raw) if is_packed else self.raw)

    @property
    def point(self) -> str:
        """The hook point that it asks; empty for other calls."""
        return self.rest.removeprefix("/hooks/") if self.rest.startswith("/hooks/") else ""

    @property
    def is_push(self) -> bool:
        is_row = self.method in ("PUT", "DELETE") and bool(_ROW.fullmatch(self.rest))
        return is_row or (self.method, self.rest) == ("POST", "/rows")

    @property
    def rows(self) -> list[SentRow]:
        """The rows that it pushes, alone or in a batch, in their order."""
        if not self.is_push:
            return []
        answer = self.answered.record if self.answered else {}
        if self.rest == "/rows":
            sent = self.body.get("rows") or []
            results = answer.get("results") or [{}] * len(sent)
            return [_sent(row, result) for row, result in zip(sent, results, strict=False)]
        resource, row_id = _ROW.fullmatch(self.rest).groups()  # type: ignore[union-attr]
        row: Record = {"resource": resource, "id": unquote(row_id)}
        if self.method == "DELETE":
            row |= {"version": int(parse_qs(self.query).get("version", ["0"])[0]), "deleted": True}
        else:
            data = self.body
            row |= {"version": data.pop("version", 0), "force": data.pop("force", False), "data": data}
        return [_sent(row, answer if "result" in answer else {"error": answer} if answer else {})]

    def with_row(self, row_id: str, **fields: Any) -> Record:
        """Its body, with more fields in one row."""
        body = self.body
        if self.rest != "/rows":
            return body | fields
        for row in body["rows"]:
            if row["id"] == row_id and row.get("data") is not None:
                row["data"] |= fields
        return body


def _sent(row: Record, result: Record) -> SentRow:
    data = None if row.get("deleted") else dict(row.get("data") or {})
    return SentRow(
        str(row.get("resource")), str(row.get("id")), int(row.get("version", 0)), data, bool(row.get("force")), result
    )  # fmt: skip


def _object(text: bytes) -> Record:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}

"""One HTTP request and its answer, as values: what the routes work with, and tests can look at."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """``query`` holds the last value of each name; ``body`` is empty for a GET."""

    path: str
    query: Mapping[str, str]
    headers: Message
    body: bytes = b""

    def bearer(self) -> str:
        """The token of the Authorization header; empty where there is none."""
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def html(page: str, headers: Mapping[str, str], status: int = 200) -> Answer:
    """A page."""
    return Answer(status, "text/html; charset=utf-8", page.encode(errors="replace"), headers)


def data(record: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> Answer:
    """JSON that must not be cached."""
    return Answer(
        status,
        "application/json",
        json.dumps(record).encode(),
        {"Cache-Control": "no-store"} | dict(headers or {}),
    )


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> Answer:
    """JSON that says what is wrong."""
    return data({"message": message}, status, headers)

"""The JSON object around the data of a delivery or a hook call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Envelope:
    """``names`` holds the texts that were asked for, in their order."""

    names: tuple[str, ...]
    timestamp: datetime
    data: dict[str, Any]


def read_envelope(body: bytes, *names: str) -> Envelope:
    """Read an object with these texts, ``timestamp`` and ``data``; further keys are ignored.

    Raises ``ValueError`` that says what is wrong with it.
    """
    try:
        envelope = json.loads(body)
    except (ValueError, RecursionError):
        raise ValueError("the body is not JSON") from None
    if not isinstance(envelope, dict):
        raise ValueError("the body is not a JSON object")
    for name in (*names, "timestamp"):
        if not isinstance(envelope.get(name), str) or not envelope[name]:
            raise ValueError(f"{name} is missing or not a string")
    if not isinstance(envelope.get("data"), dict):
        raise ValueError("data is missing or not an object")
    try:
        timestamp = datetime.fromisoformat(envelope["timestamp"])
    except ValueError:
        raise ValueError("timestamp is not an ISO 8601 time") from None
    return Envelope(tuple(envelope[name] for name in names), timestamp, envelope["data"])

"""JSON of what shops have: decimal numbers and times, too."""

from __future__ import annotations

import json
from datetime import datetime
from decimal import Decimal
from typing import Any


def to_json(value: Any) -> str:
    """As short as it gets, with the keys sorted, so that equal values have equal texts.

    A ``Decimal`` is a number, a ``datetime`` RFC 3339. Raises ``TypeError`` for other things that JSON has not, and ``ValueError``
    for a time without a zone and for numbers that aren't finite.
    """
    return json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), default=_plain
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError("a time without a zone is no moment")
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} can't be sent as JSON")

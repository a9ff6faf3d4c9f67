"""Answers of the platform that may be a few seconds old."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from extension_platform_sdk import PlatformError

Value = TypeVar("Value")

logger = logging.getLogger(__name__)


class Cache(Generic[Value]):
    """The newest ``size`` values by store, each for ``seconds``; safe to use from several threads.

    Where the platform has no answer the former value stands, or the one for want of any, for as long: what a shopper
    waits for must not wait for that again and again.
    """

    def __init__(self, *, seconds: float, size: int = 1000) -> None:
        self._seconds = seconds
        self._size = size
        self._kept: OrderedDict[str, tuple[Value, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, business_id: str, read: Callable[[], Value], *, otherwise: Value) -> Value:
        """The value of a store, read anew where it is too old; ``otherwise`` where there is none at all."""
        with self._lock:
            value, until = self._kept.get(business_id, (otherwise, 0.0))
        if time.monotonic() < until:
            return value
        try:
            value = read()
        except PlatformError as error:
            logger.warning("Going on with what is known: %s", error)
        with self._lock:
            self._kept[business_id] = (value, time.monotonic() + self._seconds)
            self._kept.move_to_end(business_id)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return value

    def forget(self, business_id: str) -> None:
        """Delete what is kept of a store."""
        with self._lock:
            self._kept.pop(business_id, None)

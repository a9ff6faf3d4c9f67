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

    If the platform doesn't respond, the previous value (or the default) is used for the same time, so that shoppers don't
    wait for the platform again and again.
    """

    def __init__(self, *, seconds: float, size: int = 1000) -> None:
        self._seconds = seconds
        self._size = size
        self._kept: OrderedDict[str, tuple[Value, float]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, business_id: str, read: Callable[[], Value], *, otherwise: Value) -> Value:
        """The value of a store, read again if it is too old; ``otherwise`` if there is none."""
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

"""The request id and the trace that everything caused by a request keeps (contract, section 0, "request id").

An event, a webhook delivery and a hook call carry both on, so an app that passes `traceparent` on to its own calls
stays in the same trace. Ids are 16 bytes, which is what W3C Trace Context and a UUID have in common.
"""

import logging
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from common.ids import new_id

REQUEST_ID_HEADER: Final = "X-Request-Id"

# https://www.w3.org/TR/trace-context/#traceparent-header: later versions may append fields, version ff is invalid.
_TRACEPARENT: Final = re.compile(
    r"(?!ff)(?P<version>[0-9a-f]{2})-(?P<trace>(?!0{32})[0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?P<rest>-.*)?"
)


@dataclass(frozen=True, slots=True)
class Trace:
    """`trace_id` is the caller's where its request brought one, else the request's own id."""

    request_id: UUID
    trace_id: UUID

    def headers(self, span: bytes | None = None) -> dict[str, str]:
        """For a request that we send. `span` is its own id of 8 bytes, random where none is given."""
        parent = (span or os.urandom(8)).hex()
        return {
            REQUEST_ID_HEADER: str(self.request_id),
            "traceparent": f"00-{self.trace_id.hex}-{parent}-01",
        }


_current: ContextVar[Trace | None] = ContextVar("trace", default=None)


def current() -> Trace | None:
    """The trace of the request that is being answered. None in a worker."""
    return _current.get()


def current_or_new() -> Trace:
    return current() or _begin(None)


def current_request_id() -> UUID | None:
    """For the column of a row that a request causes."""
    trace = current()
    return trace.request_id if trace else None


def current_foreign_trace_id() -> UUID | None:
    """The trace id that the caller brought, for a column. None where it is the request's own id."""
    trace = current()
    return trace.trace_id if trace and trace.trace_id != trace.request_id else None


@contextmanager
def of_request(traceparent: str | None) -> Iterator[Trace]:
    """The trace of a request with this header, which is current until the end of the block."""
    trace = _begin(traceparent)
    token = _current.set(trace)
    try:
        yield trace
    finally:
        _current.reset(token)


def _begin(traceparent: str | None) -> Trace:
    request_id = new_id()
    return Trace(request_id, _trace_id(traceparent or "") or request_id)


def _trace_id(traceparent: str) -> UUID | None:
    """The trace id in a valid header. Version 00 has no further fields."""
    found = _TRACEPARENT.fullmatch(traceparent.strip())
    if not found or (found["version"] == "00" and found["rest"]):
        return None
    return UUID(found["trace"])


class LogFilter(logging.Filter):
    """Adds `request_id` and `trace_id` to each record; "-" outside of requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        trace = current()
        record.request_id = str(trace.request_id) if trace else "-"
        record.trace_id = trace.trace_id.hex if trace else "-"
        return True

"""The outcome of an outgoing request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

ErrorClass = Literal[
    "dns",
    "refused",
    "reset",
    "tls",
    "timeout_connect",
    "timeout_response",
    "blocked_address",
    "redirect",
    "protocol",
    "http_4xx",
    "http_5xx",
]


@dataclass(frozen=True, slots=True)
class Exchange:
    """The outcome of one request. `status` is None without a response, and `error_class` is None on success.

    `headers` has those of `KEPT_HEADERS` that the response has, with lower-case names. `body` has the received bytes,
    not decoded. `truncated` means that the body was longer, broke off or took too long. `connected_at` and `first_byte_at` are by
    the monotonic clock: when the request began to leave, and when the response began. None if it didn't come to that.
    """

    status: int | None
    headers: Mapping[str, str]
    body: bytes
    truncated: bool
    duration_ms: int
    error_class: ErrorClass | None
    connected_at: float | None = field(default=None, compare=False)
    first_byte_at: float | None = field(default=None, compare=False)

    @property
    def succeeded(self) -> bool:
        return self.error_class is None


def status_class(status: int) -> ErrorClass | None:
    if 200 <= status < 300:
        return None
    if 300 <= status < 400:
        return "redirect"
    if 400 <= status < 500:
        return "http_4xx"
    return "http_5xx" if 500 <= status < 600 else "protocol"

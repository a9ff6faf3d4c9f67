"""Calls of the app API on their way into the log: from requests to the queue (`activity.log`), and from there to the writer."""

from collections import Counter
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any
from uuid import UUID


@dataclass(slots=True)
class RecordedCall:
    """What the request's thread knows of one call. The writer makes the row of it.

    `installation` is None for a token that is not valid; `token_digest` may then still find whose it was.
    """

    at: datetime
    request_id: UUID | None = None
    trace_id: UUID | None = None
    installation: Any = None
    token_digest: str = ""
    token_last_four: str = ""
    method: str = ""
    route: str = ""
    path: str = ""
    status: int = 0
    duration: float = 0.0  # seconds
    scope: str = ""  # that the call needs
    has_scope: bool = False
    scopes_used: tuple[str, ...] = ()
    rate: tuple[int, int, int] = (0, 0, 0)  # the limit, what is left of it, the window's end
    idempotency_key: str = ""
    request_body: bytes = b""
    response_body: bytes = b""
    error_code: str = ""
    is_deprecated: bool = False  # whether the operation is


Use = tuple[UUID, str, str, date]  # app, scope, method and route, day


@dataclass(slots=True)
class Gap:
    """Calls of one app that were not logged."""

    since: datetime
    until: datetime
    count: int


@dataclass(slots=True)
class Batch:
    calls: list[RecordedCall]
    gaps: dict[UUID, Gap] = field(default_factory=dict)  # by app
    uses: Counter[Use] = field(default_factory=Counter)  # of the calls that were not logged


def uses_of(call: RecordedCall) -> list[Use]:
    """What a call adds to the use of scopes. Nothing for an endpoint that is not documented, nor in a throwaway store: there
    the platform and the developer's tests cause the calls.
    """
    if not counts_as_use(call):
        return []
    return [
        (call.installation.app_id, scope, f"{call.method} {call.route}", call.at.date())
        for scope in call.scopes_used
    ]


def counts_as_use(call: RecordedCall) -> bool:
    return bool(call.scopes_used and call.route) and call.installation.business.expires_at is None

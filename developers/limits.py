"""How much one developer may do in a minute, by the developer API and in the portal together, and at once.

Counted for the person, whatever the credential. Each raises `TooManyRequests`. While the cache server can't be reached,
everything passes.
"""

from typing import Final

from accounts.models import User
from common.errors import TooManyRequests
from common.web.limits.rate_limits import consume

REQUESTS: Final = 600  # calls of the developer API, and POSTs in the portal
POLLS: Final = 1200  # of listeners: asking for work and reporting answers
CHANGES: Final = 60  # test events and changes on sandbox stores
MAX_PARTS: Final = 20  # of a body with pictures


def count_request(user: User) -> None:
    """Count a call of the developer API, or a POST in the portal."""
    _count(user, "developer", REQUESTS, "requests", "rate_limited")


def count_poll(user: User) -> None:
    """Count a request of a listener, which waits for work most of the time."""
    _count(user, "listening", POLLS, "requests of listeners", "rate_limited")


def count_changes(user: User, number: int = 1) -> None:
    """Count test events or changes on the sandbox store, before the first of them is made."""
    for _ in range(number):
        _count(
            user, "sandbox-changes", CHANGES, "test events and changes of sandbox stores", "too_many_changes"
        )


def _count(user: User, group: str, limit: int, what: str, code: str) -> None:
    state = consume(f"{group}:{user.pk}", limit=limit)
    if not state.allowed:
        message = f"More than {limit} {what} in a minute. Try again in {state.retry_after} seconds."
        raise TooManyRequests(message, retry_after=state.retry_after, code=code)

"""How much one person may do, counted for the person whatever the credential.

Each raises `TooManyRequests`. While the cache server can't be reached, everything passes.
"""

from typing import Final

from django.contrib.auth.base_user import AbstractBaseUser

from common.errors import TooManyRequests
from common.web.limits.rate_limits import consume

REQUESTS: Final = 600  # a minute (contract, section 15, "Lengths")


def count_request(user: AbstractBaseUser) -> None:
    """Count a call of the developer API, or a form sent in the portal or the merchant's dashboard, however much it changes."""
    count(user, "requests", REQUESTS, "requests", "rate_limited")


def count(user: AbstractBaseUser, group: str, limit: int, what: str, code: str) -> None:
    state = consume(f"{group}:{user.pk}", limit=limit)
    if not state.allowed:
        message = f"More than {limit} {what} in a minute. Try again in {state.retry_after} seconds."
        raise TooManyRequests(message, retry_after=state.retry_after, code=code)

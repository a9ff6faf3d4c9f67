"""How much one developer may do in a minute, besides requests (`common.web.limits`), and at once."""

from typing import Final

from accounts.models import User
from common.web.limits import count
from teststores.models import StoreScenario

POLLS: Final = 1200  # of listeners: asking for work and reporting answers
CHANGES: Final = 60  # test events and changes on sandbox stores
# For how many of these opening a test store counts, by the rows that it writes. All eight can be opened within a minute.
OPENING: Final = {StoreScenario.EMPTY: 1, StoreScenario.DEFAULT: 2, StoreScenario.BUSY: 7}
MAX_PARTS: Final = 20  # of a body with pictures


def count_poll(user: User) -> None:
    """Count a request of a listener, which waits for work most of the time."""
    count(user, "listening", POLLS, "requests of listeners", "rate_limited")


def count_changes(user: User, number: int = 1) -> None:
    """Count test events or changes on the sandbox store, before the first of them is made."""
    for _ in range(number):  # which ends at the first above the limit
        count(
            user, "sandbox-changes", CHANGES, "test events and changes of sandbox stores", "too_many_changes"
        )

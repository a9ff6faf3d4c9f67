"""The hint to a worker that an approval has just been committed.

It saves waiting for the next sweep, and nothing depends on it. A thread gives it, so that a broker that is slow or
dead neither fails nor delays the reviewer; approvals are rare, so each has a thread of its own.
"""

import logging
import threading
from typing import Final

from installations.tasks import follow_approvals

log = logging.getLogger(__name__)

EXPIRES: Final = 5.0  # seconds; a hint that waited longer has been overtaken by sweeps


def hint() -> None:
    """Have a worker look for approvals soon. Returns at once."""
    threading.Thread(target=give_hint, name="approvals-hint", daemon=True).start()


def give_hint() -> None:
    """Publish the hint. Raises nothing."""
    try:
        follow_approvals.apply_async(expires=EXPIRES, retry=False)
    except Exception as error:
        log.warning("No worker could be told of the approval, the sweep will find it: %s", error)

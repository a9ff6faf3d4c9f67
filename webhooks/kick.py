"""The hint to a dispatcher that an event has just been committed.

It saves waiting for the next sweep, and nothing depends on it. A thread gives it, so that a broker or cache that
is slow or dead neither fails nor delays whoever caused the event.
"""

import logging
import os
import threading
from time import sleep

from webhooks import awake
from webhooks.tasks import dispatch

log = logging.getLogger(__name__)

EXPIRES = 5.0  # seconds; a hint that waited longer has been overtaken by sweeps
GATHERED = 0.02  # seconds after a hint in which further ones are gathered into one
PAUSE = 5.0  # seconds without hints after one that failed

_wanted = threading.Event()
_starting = threading.Lock()
_thread: threading.Thread | None = None


def kick() -> None:
    """Have a dispatcher look for work soon. Returns at once."""
    global _thread
    _wanted.set()
    if _thread is None:
        with _starting:
            if _thread is None:
                _thread = threading.Thread(target=_give_hints, name="webhooks-kick", daemon=True)
                _thread.start()


def _give_hints() -> None:
    while True:
        _wanted.wait()
        _wanted.clear()
        sleep(GATHERED if give_hint() else PAUSE)


def give_hint() -> bool:
    """Publish the hint, unless a dispatcher is awake. Whether that went well; raises nothing."""
    try:
        if not awake.anybody():
            dispatch.apply_async(expires=EXPIRES, retry=False)
    except Exception as error:
        log.warning("No dispatcher could be woken, the sweep will find the deliveries: %s", error)
        return False
    return True


def _start_anew_after_fork() -> None:
    """A child has no copy of its parent's thread, and may find its parent's locks held."""
    global _thread, _starting, _wanted
    _thread, _starting, _wanted = None, threading.Lock(), threading.Event()


os.register_at_fork(after_in_child=_start_anew_after_fork)

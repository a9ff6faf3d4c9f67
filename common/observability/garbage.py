"""Python's garbage collections, in processes that run for long."""

import gc
from threading import Thread
from time import sleep
from typing import Final

EVERY: Final = 10.0  # seconds


def collect_regularly() -> None:
    """Exempt what is in memory now from garbage collections, and make a full one every ten seconds from now on.

    Call it once a process has started. Python by itself makes a full collection only once there are a quarter more objects
    that outlived the smaller ones, which takes minutes, and the memory that it needs until then is kept for ever. It would
    also go through all that is loaded, for some 100 ms each time; what has come since takes a few. A process that idles makes none.
    """
    gc.collect()
    gc.freeze()
    Thread(target=_collect, name="garbage", daemon=True).start()


def _collect() -> None:
    while True:
        sleep(EVERY)
        if has_grown():
            gc.collect()


def has_grown() -> bool:
    """Whether Python has made a collection of the second kind since the last full one: some 7,000 new objects."""
    return gc.get_count()[2] > 0

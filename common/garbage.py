"""Python's garbage collections, in processes that run for long."""

import gc
from typing import Final

# Collections of the middle generation before a full one; Python's own is 10. A full one is cheap without what is loaded, and
# what it frees is what the memory of a web process swings by.
FULL_AFTER: Final = 3


def spare_what_is_loaded() -> None:
    """Exempt what is in memory now from garbage collections. Call it once a process has started.

    A full collection would go through all of it, for some 100 ms each time: in a web process once in a few hundred
    requests, in a dispatcher a tenth of its processor time.
    """
    gc.collect()
    gc.freeze()
    # Python puts a full collection off until the new objects are a quarter of those at the last one. Without this one, these
    # would be all that is loaded, and a worker would keep its garbage for hours.
    gc.collect()
    young, middle, _ = gc.get_threshold()
    gc.set_threshold(young, middle, FULL_AFTER)

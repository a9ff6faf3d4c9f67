"""Garbage collections in processes that run for long."""

import subprocess
import sys

import pytest

SCRIPT = """
import gc, time
from weakref import ref
from common.observability import garbage

class Thing: pass

loaded = [[] for _ in range(1_000_000)]
garbage.EVERY = 1.0
garbage.collect_regularly()
assert len(gc.get_objects()) < 100_000, "what is loaded would be gone through"
cycle = Thing()
cycle.itself = cycle
gone = ref(cycle)
gc.collect(1)  # it is kept by the smaller collections
del cycle
gc.collect(1)
assert gone()
end = time.monotonic() + 10
while gone():
    assert time.monotonic() < end, "it was never collected"
    time.sleep(0.01)
"""


@pytest.mark.long
def test_what_the_small_collections_leave_does_not_stay_for_long() -> None:
    """Python would wait until there are a quarter more objects."""
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)

"""A reader of the feed misses nothing and reads nothing twice (docs/faults.md, scenario 24)."""

from pathlib import Path

import pytest

from accounts.models import Business
from benchmarks.feed_proof import Size, prove
from installations.models import Installation
from tests.faults.processes import Processes
from tests.ports import free_port

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

# `python -m benchmarks feed-proof` does the same with 32 writers, 10,000 events and 20 kills of each.
SMALL = Size(writers=8, events=150, longest=1.0, kills=1)


@pytest.mark.fault(24, "horizon of the feed")
def test_feed_is_read_as_it_was_committed_by_a_reader_and_a_server_that_die(
    processes: Processes, installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    port = free_port()
    outcome = prove(
        business=sandbox,
        token=installation.raw_token,  # type: ignore[attr-defined]
        port=port,
        start_web=lambda: processes.web(port),
        folder=tmp_path,
        size=SMALL,
    )
    assert outcome.overtaken
    assert outcome.kills == {"web": 1, "reader": 1}
    assert (outcome.missing, outcome.repeated) == (0, 0)
    assert outcome.read == outcome.committed

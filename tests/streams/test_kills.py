"""The process is killed at any moment, while stores write."""

import random
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.db import connection, transaction

from accounts.models import Business
from installations.models import Installation
from streams.models import Stream
from tests.faults.processes import Processes
from tests.streams.reading import all_ids, files, ids, read, stream, wait_until_readable
from tests.webhooks.helpers import publish, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

WRITERS, KILLS = 3, 4


@pytest.fixture
def processes(transactional_db: None, tmp_path: Path) -> Iterator[Processes]:
    started = Processes(tmp_path / "logs")
    (tmp_path / "logs").mkdir()
    yield started
    started.end()


def wait_for_files(folder: Path, *, more_than: int) -> None:
    wait_until(lambda: len(files(folder)) > more_than, timeout=60)


@pytest.mark.postgres
def test_process_killed_again_and_again_leaves_no_gap_and_no_double(
    installation: Installation, sandbox: Business, processes: Processes, tmp_path: Path
) -> None:
    """Transactions stay open for odd times meanwhile, and commit in another order than they wrote."""
    enough, dice, folder = threading.Event(), random.Random(11), tmp_path / "events"

    def write(seed: int) -> None:
        own = random.Random(seed)
        while not enough.is_set():
            with transaction.atomic():
                publish(sandbox)
                time.sleep(own.choice((0, 0.005, 0.08, 0.3)))
        connection.close()

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(WRITERS)]
    for writer in writers:
        writer.start()
    try:
        for _ in range(KILLS):
            written = len(files(folder)) + 2
            process = processes.start(
                "manage.py", "stream_events", "warehouse", "--to", str(folder), "--forever",
                "--batch", "3", "--every", "0.01",
            )  # fmt: skip
            wait_for_files(folder, more_than=written)
            time.sleep(dice.uniform(0, 0.2))
            process.kill()
    finally:
        enough.set()
        for writer in writers:
            writer.join()
    stream(to=folder)
    assert len(all_ids()) > KILLS * 3
    assert ids(read(folder)) == all_ids()


@pytest.mark.parametrize(
    "moment",
    ["streams.services.batches:_move", "streams.targets:os.replace", "streams.services.batches:_confirm"],
)
def test_process_killed_at_each_step_goes_on_there(
    moment: str, installation: Installation, sandbox: Business, processes: Processes, tmp_path: Path
) -> None:
    """Before the batch is chosen, before it is written, and before it is confirmed."""
    for _ in range(3):
        publish(sandbox)
    wait_until_readable()
    folder = tmp_path / "events"
    arguments = ("manage.py", "stream_events", "warehouse", "--to", str(folder))
    assert processes.start(*arguments, FAULT_DIE_AT=moment).wait_for_death(120) == -9
    assert Stream.objects.get().events_written == 0
    publish(sandbox)
    stream(to=folder)
    assert ids(read(folder)) == all_ids()


def test_sigterm_ends_it_after_the_batch(
    installation: Installation, sandbox: Business, processes: Processes, tmp_path: Path
) -> None:
    publish(sandbox)
    wait_until_readable()
    command = f"sh -c 'cat >> {tmp_path}/taken; touch {tmp_path}/begun; sleep 2'"
    process = processes.start("manage.py", "stream_events", "bus", "--command", command, "--forever")
    wait_until((tmp_path / "begun").exists, timeout=60)
    process.signal_first(15)
    assert process.wait_for_death() == 0
    assert "1 events written." in process.output
    assert Stream.objects.get().events_written == 1

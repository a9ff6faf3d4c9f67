"""No visitor waits for the documentation to be made: each process that serves makes it in a thread when it starts."""

import time
from pathlib import Path

import pytest

from tests.config.web_servers import serving
from tests.webhooks.helpers import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]

REFERENCE = "/docs/reference/orders/"
MADE_IN = 0.35  # seconds of a processor; making all of it takes two to four times as long
IDLE = 0.05


def _processor_time(pid: int) -> float:
    return time.clock_gettime((~pid << 3) | 2)


def _is_idle(pid: int) -> bool:
    before = _processor_time(pid)
    time.sleep(1)
    return _processor_time(pid) - before < IDLE


def test_first_reference_page_of_a_process_has_been_made(tmp_path: Path) -> None:
    with serving("gunicorn", tmp_path) as server:
        worker = server.worker()
        wait_until(lambda: _is_idle(worker), 60)
        before = _processor_time(worker)
        server.seconds_until(REFERENCE)
        assert _processor_time(worker) - before < MADE_IN

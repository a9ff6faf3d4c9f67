"""The probes of a run by the platform itself, within a web request."""

import socket
import threading
from collections.abc import Iterator

import pytest

from common import strangers
from conformance.probes import Expected, Probe
from conformance.services.runs import send_probes
from marketplace.models import App
from tests.receivers import Answer, Receiver
from tests.strangers import places_taken, visit


@pytest.fixture(autouse=True)
def _threads(settings: object) -> Iterator[None]:
    strangers.bound.cache_clear()
    yield
    strangers.bound.cache_clear()


@pytest.mark.long
@pytest.mark.timed
def test_without_a_place_all_probes_are_broken_off(settings: object) -> None:
    broken_off = threading.Semaphore(0)

    def hang(connection: socket.socket) -> None:
        connection.settimeout(5)
        if connection.recv(1) == b"":
            broken_off.release()

    with Receiver() as receiver, places_taken():
        receiver.respond_with(Answer(script=hang))
        probes = [Probe(str(n), "", "", Expected.ACCEPTED, f"{receiver.url}{n}", body="{}") for n in range(3)]
        with pytest.raises(strangers.NoPlace):
            visit(lambda: send_probes(probes, 10, App()))
        assert all(broken_off.acquire(timeout=3) for _ in probes)

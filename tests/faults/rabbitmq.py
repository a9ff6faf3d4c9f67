"""Queues of a test's own in the machine's RabbitMQ, and a way there that can be cut."""

import subprocess
import sys
from pathlib import Path
from typing import Self

from tests.faults.servers import skipped_if_missing
from tests.ports import free_port
from tools import servers


def require() -> None:
    """Skips the test where RabbitMQ doesn't run, or isn't ours to administer: not every machine offers it."""
    virtual_host("")


def virtual_host(name: str) -> servers.RabbitMQ:
    with skipped_if_missing():
        return servers.RabbitMQ(name)


class Way:
    """A context manager. A port that leads to RabbitMQ, until it is closed: then every connection is cut."""

    def __init__(self) -> None:
        self.port = free_port()

    def open(self) -> None:
        relay = str(Path(__file__).with_name("relay.py"))
        command = [sys.executable, "-I", relay, f"127.0.0.1:{self.port}", "127.0.0.1:5672"]
        self._relay = subprocess.Popen(command)

    def close(self) -> None:
        self._relay.kill()
        self._relay.wait()

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

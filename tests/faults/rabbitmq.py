"""Queues of a test's own in the machine's RabbitMQ, and a way there that can be cut."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

import pytest

from tests.plugins.services import answers
from tests.ports import free_port

SERVER: Final = "amqp://guest:guest@127.0.0.1:5672//"


def require() -> None:
    """Skips the test where RabbitMQ doesn't run, or isn't ours to administer: not every machine offers it."""
    if not shutil.which("rabbitmqctl") or not answers(SERVER):
        pytest.skip("needs RabbitMQ at its usual port and rabbitmqctl, which are not here")
    asked = subprocess.run(["rabbitmqctl", "status"], capture_output=True, text=True, check=False)
    if asked.returncode != 0:
        pytest.skip(f"may not administer RabbitMQ: {asked.stderr.strip()[:300]}")


def make(name: str) -> None:
    _control("add_vhost", name)
    _control("set_permissions", "--vhost", name, "guest", ".*", ".*", ".*")


def remove(name: str) -> None:
    """With its queues and all messages, and cut its connections."""
    _control("delete_vhost", name)


@contextmanager
def virtual_host(name: str) -> Iterator[None]:
    make(name)
    try:
        yield
    finally:
        remove(name)


def _control(*arguments: str) -> None:
    subprocess.run(["rabbitmqctl", *arguments], check=True, stdout=subprocess.DEVNULL)


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

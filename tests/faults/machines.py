"""Several machines on this one: network namespaces on a bridge, each with an address and a loopback interface of its own."""

import os
import shutil
import subprocess
import sys
from itertools import count
from pathlib import Path
from typing import Self

import pytest

from tests.faults.processes import Process, Processes

NOBODY = "02:00:00:00:00:01"  # no host has this hardware address


def require(*programs: str) -> None:
    """Skips the test without them, or without the right to make network namespaces."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}, which is not installed")
    probe = f"probe-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", probe], capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip("makes network namespaces, which isn't allowed here")
    ip("netns", "delete", probe)


def ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(arguments)}: {done.stderr}"


class Machine:
    """A network namespace. Its files are in a folder of its own."""

    def __init__(self, name: str, address: str, folder: Path, namespace: str, processes: Processes) -> None:
        self.name, self.address, self.folder = name, address, folder
        self.namespace = namespace
        self._processes = processes
        folder.mkdir()

    @property
    def inside(self) -> tuple[str, ...]:
        """What is put before a command to run it here."""
        return ("ip", "netns", "exec", self.namespace)

    def start(self, *command: str, **environment: str) -> Process:
        settings = {"VAR_DIR": str(self.folder)} | environment
        return self._processes.start(*command, prefix=self.inside, **settings)

    def stop_hearing(self, address: str) -> None:
        """Lose what it sends to the address, without a word, as if that host or the network between had died."""
        ip(
            "-n",
            self.namespace,
            "neigh",
            "replace",
            address,
            "lladdr",
            NOBODY,
            "nud",
            "permanent",
            "dev",
            "eth0",
        )

    def hear(self, address: str) -> None:
        ip("-n", self.namespace, "neigh", "delete", address, "dev", "eth0")

    def stored(self) -> list[str]:
        """Pictures and exports on its disk."""
        folders = (self.folder / "media", self.folder / "exports")
        return [str(file) for folder in folders for file in folder.rglob("*") if file.is_file()]


class Network:
    """A context manager. The test itself is at `address`, as the machine that has the servers all others share.

    `name` is of this run alone.
    """

    def __init__(self, directory: Path, processes: Processes) -> None:
        self._directory, self._processes = directory, processes
        self.name = f"ep{os.getpid() % 100_000}"
        self._prefix = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
        self.address = f"{self._prefix}.1"
        self.range = f"{self._prefix}.0/24"
        self._numbers, self._own_numbers = count(1), count(1)
        self._machines: list[Machine] = []
        self._relays: list[subprocess.Popen[bytes]] = []

    def machine(self, name: str) -> Machine:
        number = next(self._numbers)
        namespace, outside = f"{self.name}-{name}", f"{self.name}v{number}"
        address = f"{self._prefix}.{10 + number}"
        ip("netns", "add", namespace)
        made = Machine(name, address, self._directory / name, namespace, self._processes)
        self._machines.append(made)
        ip("link", "add", outside, "type", "veth", "peer", "name", "eth0", "netns", namespace)
        ip("link", "set", outside, "master", self.name, "up")
        ip("-n", namespace, "addr", "add", f"{address}/24", "dev", "eth0")
        for interface in ("eth0", "lo"):
            ip("-n", namespace, "link", "set", interface, "up")
        return made

    def second_address(self) -> str:
        """Another address of the test itself, so that a machine can lose the way to one of them alone."""
        address = f"{self._prefix}.{1 + next(self._own_numbers)}"
        ip("addr", "add", f"{address}/24", "dev", self.name)
        return address

    def relay(self, listen: str, target: str, *, on: Machine | None = None) -> "subprocess.Popen[bytes]":
        """Pass connections to `listen` on to `target`, both `address:port`: here, or on a machine."""
        command = (sys.executable, "-I", str(Path(__file__).with_name("relay.py")), listen, target)
        self._relays.append(subprocess.Popen([*(on.inside if on else ()), *command]))
        return self._relays[-1]

    def __enter__(self) -> Self:
        ip("link", "add", self.name, "type", "bridge")
        ip("addr", "add", f"{self.address}/24", "dev", self.name)
        ip("link", "set", self.name, "up")
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.end()
        for relay in self._relays:
            relay.kill()
            relay.wait()
        for number, machine in enumerate(self._machines, 1):
            # A namespace ends a little later than its name, and its interfaces with it.
            subprocess.run(["ip", "link", "delete", f"{self.name}v{number}"], check=False)
            subprocess.run(["ip", "netns", "delete", machine.namespace], check=False)
        subprocess.run(["ip", "link", "delete", self.name], check=False)

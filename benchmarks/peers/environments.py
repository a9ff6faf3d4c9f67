"""Environments of the peers in `build/peers/`, made when they are first needed, and the processes in them."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psycopg

from benchmarks.environment import ROOT, database
from benchmarks.peers.catalog import PROGRAMS, Peer
from benchmarks.processes import Failed, Process, started, wait_for
from benchmarks.targets import Target

WORKERS: Final = 2
PATIENCE: Final = 120.0  # seconds for whatever a peer has to do; installing it may take longer
INSTALLING: Final = 600.0
WARM: Final = 3.0  # seconds after the first of two workers did something, until both are there
TABLES: Final = """
    CREATE TABLE events (id uuid PRIMARY KEY, data text NOT NULL, at timestamptz NOT NULL DEFAULT now());
    CREATE TABLE results (id uuid PRIMARY KEY, status integer NOT NULL, at timestamptz NOT NULL DEFAULT now());
"""


def install(peer: Peer) -> None:
    """Its packages in a folder of its own, unless they are there."""
    done, wanted = peer.folder / "installed", "\n".join(peer.packages)
    if not done.exists() or done.read_text() != wanted:
        print(f"Installing {peer.title} …", file=sys.stderr)
        shutil.rmtree(peer.folder, ignore_errors=True)
        peer.folder.mkdir(parents=True)
        _install_node(peer) if peer.javascript else _install_python(peer)
        done.write_text(wanted)
    if peer.javascript:
        # A module on Node.js finds its packages in the folders above it.
        for name in ("jobs.js", peer.program):
            shutil.copy(ROOT / PROGRAMS.replace(".", "/") / name, peer.folder)


def _install_python(peer: Peer) -> None:
    _run(peer, sys.executable, "-m", "venv", str(peer.folder))
    pip = ("-m", "pip", "--disable-pip-version-check", "install", "--quiet")
    if peer.packages:
        _run(peer, _interpreter(peer), *pip, *peer.packages)


def _install_node(peer: Peer) -> None:
    """npm leaves optional packages out that are for other processors."""
    pinned = dict(package.rsplit("@", 1) for package in peer.packages)
    node = {name: version for name, version in pinned.items() if name.startswith("node-")}
    needed = {name: version for name, version in pinned.items() if name not in node}
    package = {"private": True, "type": "module", "dependencies": needed, "optionalDependencies": node}
    (peer.folder / "package.json").write_text(json.dumps(package))
    _run(peer, "npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund")


def _run(peer: Peer, *command: str) -> None:
    try:
        subprocess.run(
            command, cwd=peer.folder, capture_output=True, text=True, timeout=INSTALLING, check=True
        )
    except subprocess.CalledProcessError as error:
        raise Failed(f"{' '.join(command)} ended with {error.returncode}:\n{error.stderr[-2000:]}") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Failed(f"{' '.join(command)}: {error}") from error


def _interpreter(peer: Peer) -> str:
    if not peer.javascript:
        return str(peer.folder / "bin" / "python")
    return next(map(str, peer.folder.glob("node_modules/node-*/bin/node")), "node")


@dataclass(slots=True)
class Peering:
    """A peer with a database of its own, a process that hands jobs to its workers, and these while they are `working`."""

    peer: Peer
    folder: Path
    variables: dict[str, str]
    connection: psycopg.Connection
    producer: Process
    workers: list[Process] = field(default_factory=list)

    @contextmanager
    def working(self) -> Iterator[None]:
        """In the end its workers are killed: they would wait for what hangs."""
        with ExitStack() as stack:
            self.workers = [
                stack.enter_context(_acting(self.folder, self.peer, f"work-{number}", self.variables))
                for number in range(WORKERS)
            ]
            try:
                yield
            finally:
                self.kill()

    def kill(self) -> None:
        for worker in self.workers:
            if worker.alive():
                os.kill(worker.pid, signal.SIGKILL)
        self.workers = []

    def warm_up(self) -> None:
        """Return once all workers are there. Sends a job to the first endpoint."""
        before = self.recorded()
        self.add(1)
        wait_for(lambda: self.recorded() > before, PATIENCE, f"{self.peer.name} to do its first job")
        time.sleep(WARM)

    def recorded(self) -> int:
        """How many jobs have a result. Fails once a worker has ended by itself."""
        for worker in self.workers:
            if not worker.alive():
                worker.wait(PATIENCE)
        row = self.connection.execute(self.peer.recorded).fetchone()
        assert row
        return int(row[0])

    def add(self, count: int) -> list[str]:
        """Ids of as many new jobs, for the endpoints in turn."""
        self.producer.tell({"add": count})
        ids: list[str] = self.producer.hear(PATIENCE)
        return ids

    def publish(self, rate: int, seconds: float) -> list[tuple[str, int, float]]:
        """Id, endpoint and time of each event; the time is just before its COMMIT."""
        self.producer.tell({"rate": rate, "seconds": seconds})
        return [(job, endpoint, at) for job, endpoint, at in self.producer.hear(seconds + PATIENCE)]


@contextmanager
def peering(folder: Path, peer: Peer, targets: Sequence[Target], name: str) -> Iterator[Peering]:
    """A fresh database with the peer's tables. `name` is the database's, and begins the peer's keys in Redis."""
    endpoints = folder / f"{name}.json"
    endpoints.write_text(json.dumps([target.plain() for target in targets]))
    with ExitStack() as stack:
        url = stack.enter_context(database(name))
        connection = stack.enter_context(psycopg.connect(url, autocommit=True))
        connection.execute(TABLES)
        variables = {
            "DATABASE_URL": url,
            "PEER_ENDPOINTS": str(endpoints),
            "PEER_PREFIX": name,
            "PEER_APP": peer.app,
            "DJANGO_SETTINGS_MODULE": f"{PROGRAMS}.django_settings" if peer.app else "",
        }
        with _acting(folder, peer, "setup", variables) as setup:
            setup.wait(PATIENCE)
        producer = stack.enter_context(_acting(folder, peer, "produce", variables))
        producer.hear(PATIENCE)
        yield Peering(peer, folder, variables, connection, producer)


def _acting(
    folder: Path, peer: Peer, action: str, variables: dict[str, str]
) -> AbstractContextManager[Process]:
    """`action` is "setup", "produce", or "work-" and a number."""
    doing = action.split("-")[0]
    if doing == "work" and peer.worker:
        arguments = peer.worker
    elif peer.javascript:
        arguments = (str(peer.folder / peer.program), doing)
    else:
        arguments = ("-m", f"{PROGRAMS}.{peer.program}", doing)
    name = f"{peer.folder.name}-{action}"
    return started(folder, name, *arguments, program=_interpreter(peer), **variables)

"""Servers of the test's own, which it may kill: the machine's are not touched."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import psycopg
import pytest
import redis
from django.core.management import call_command
from django.db import connection

from tests.ports import free_port
from tests.webhooks.helpers import wait_until


def missing(program: str) -> None:
    """Skips the test, or fails it where all services were asked for."""
    reason = f"{program} is not installed, and the machine's own server must not be stopped"
    if os.environ.get("REQUIRE_SERVICES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


class Redis:
    """A server that keeps nothing on disk. A context manager."""

    def __init__(self) -> None:
        if shutil.which("redis-server") is None:
            missing("redis-server")
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.client = redis.Redis.from_url(self.url, socket_timeout=5)

    def start(self) -> None:
        self._process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", ""],
            stdout=subprocess.DEVNULL,
        )
        wait_until(self._answers)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def _answers(self) -> bool:
        with contextlib.suppress(redis.RedisError):
            return bool(self.client.ping())
        return False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.kill()


class Postgres:
    """A cluster in a temporary directory. A context manager."""

    def __init__(self) -> None:
        self._programs = _postgres_programs()
        self.port = free_port()
        self._directory = Path(tempfile.mkdtemp(prefix="extension-platform-postgres-"))
        # PostgreSQL refuses to run as root.
        self._as_user: list[str] = []
        if os.geteuid() == 0:
            owner = pwd.getpwnam("postgres")
            os.chown(self._directory, owner.pw_uid, owner.pw_gid)
            self._as_user = ["runuser", "-u", "postgres", "--"]

    def restart(self, *, pause: float = 0.0) -> None:
        """As after a crash: no connection is ended politely, and the log is replayed. `pause` is in seconds."""
        self._run("pg_ctl", "stop", "-w", "-m", "immediate")
        time.sleep(pause)
        self._run("pg_ctl", "start", "-w", *self._options)

    @property
    def _options(self) -> list[str]:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -k {self._directory}"
        return ["-l", str(self._directory / "log"), "-o", options]

    def _run(self, program: str, *arguments: str) -> None:
        command = [*self._as_user, str(self._programs / program), "-D", str(self._directory / "data")]
        subprocess.run([*command, *arguments], check=True, stdout=subprocess.DEVNULL, cwd=self._directory)

    def __enter__(self) -> Self:
        self._run("initdb", "--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-sync")
        self._run("pg_ctl", "start", "-w", *self._options)
        return self

    def __exit__(self, *_: object) -> None:
        self._run("pg_ctl", "stop", "-m", "immediate")
        shutil.rmtree(self._directory, ignore_errors=True)


def _postgres_programs() -> Path:
    on_path = shutil.which("pg_ctl")
    found = [Path(on_path)] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if not found or (os.geteuid() == 0 and shutil.which("runuser") is None):
        missing("PostgreSQL's pg_ctl")
    return found[-1].parent


@contextmanager
def in_database_of(server: Postgres) -> Iterator[None]:
    """The test's models live in the server's database meanwhile."""
    with psycopg.connect(f"host=127.0.0.1 port={server.port} user=postgres", autocommit=True) as session:
        session.execute("CREATE DATABASE faults")
    before = dict(connection.settings_dict)
    connection.close()
    connection.settings_dict.update(HOST="127.0.0.1", PORT=server.port, USER="postgres", NAME="faults")
    try:
        call_command("migrate", verbosity=0)
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)

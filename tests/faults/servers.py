"""Servers of the test's own, which it may kill: the machine's are not touched."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import psycopg
import pytest
import redis
from django.db import connection

from tests.ports import free_port
from tests.webhooks.helpers import wait_until
from tools import backups, servers

SENTINEL = """
port {port}
bind 127.0.0.1
protected-mode no
dir {folder}
sentinel monitor main 127.0.0.1 {master} 2
sentinel down-after-milliseconds main 1000
sentinel failover-timeout main 3000
"""


@contextmanager
def skipped_if_missing() -> Iterator[None]:
    """Skips the test where a program is not installed."""
    try:
        yield
    except servers.Missing as missing:
        pytest.skip(str(missing))


class Redis(servers.Redis):
    def __init__(self, address: str = "127.0.0.1") -> None:
        with skipped_if_missing():
            super().__init__(address)


class Postgres(servers.Postgres):
    def __init__(self) -> None:
        with skipped_if_missing():
            super().__init__()


class BackedUp(backups.BackedUp):
    def __init__(self, repository: str = "disk", **settings: str) -> None:
        with skipped_if_missing():
            super().__init__(repository, **settings)


class Standby(Postgres):
    """A cluster that follows another one by streaming replication, and can be read."""

    def __init__(self, primary: Postgres) -> None:
        super().__init__()
        self._primary = primary

    def __enter__(self) -> Self:
        source = f"host=127.0.0.1 port={self._primary.port} user=postgres"
        self.run("pg_basebackup", "-d", source, "-D", str(self.data), "-R", "--checkpoint=fast", "--no-sync")
        self.configure(port=str(self.port), unix_socket_directories=str(self.directory))
        self.start()
        return self


class Sentinels:
    """Two Redis servers, of which one follows the other, and three sentinels that choose the master."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.servers = [Redis(), Redis()]
        self._ports = [free_port() for _ in range(3)]
        self.url = f"sentinel://{','.join(f'127.0.0.1:{port}' for port in self._ports)}/0?master=main"
        self._sentinels: list[subprocess.Popen[bytes]] = []

    @property
    def master(self) -> Redis:
        host_and_port = redis.Redis(port=self._ports[0]).execute_command(
            "SENTINEL GET-MASTER-ADDR-BY-NAME main"
        )
        return next(server for server in self.servers if server.port == int(host_and_port[1]))

    def _knows_all(self, port: int) -> bool:
        with suppress(redis.RedisError):
            (main,) = redis.Redis(port=port).sentinel_masters().values()
            return (main["num-slaves"], main["num-other-sentinels"]) == (1, 2)
        return False

    def __enter__(self) -> Self:
        first, second = self.servers
        first.start()
        second.start()
        second.client.replicaof("127.0.0.1", str(first.port))
        for port in self._ports:
            file = self._folder / f"sentinel-{port}.conf"
            file.write_text(SENTINEL.format(port=port, folder=self._folder, master=first.port))
            self._sentinels.append(
                subprocess.Popen(["redis-server", str(file), "--sentinel"], stdout=subprocess.DEVNULL)
            )
        wait_until(lambda: all(map(self._knows_all, self._ports)), timeout=30)
        return self

    def __exit__(self, *_: object) -> None:
        for sentinel in self._sentinels:
            sentinel.kill()
            sentinel.wait()
        for server in self.servers:
            server.__exit__()


@contextmanager
def in_database_of(server: Postgres | BackedUp) -> Iterator[None]:
    """The test's models live in the server's database meanwhile: a copy of the tests' own, which is quicker than to migrate."""
    with psycopg.connect(f"host=127.0.0.1 port={server.port} user=postgres", autocommit=True) as session:
        session.execute("CREATE DATABASE faults")
    before = dict(connection.settings_dict)
    connection.close()
    _copy(before, f"{server.url}/faults", server.programs)
    connection.settings_dict.update(HOST="127.0.0.1", PORT=server.port, USER="postgres", NAME="faults")
    try:
        yield
    finally:
        connection.close()
        connection.settings_dict.update(before)


def _copy(of: dict[str, Any], to: str, programs: Path) -> None:
    at = {f"PG{name}": str(of[name]) for name in ("HOST", "PORT", "USER", "PASSWORD") if of[name]}
    dump = ["pg_dump", "--no-owner", "--no-acl", of["NAME"]]
    with subprocess.Popen(dump, env=os.environ | at | _path(programs), stdout=subprocess.PIPE) as dumped:
        load = ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "--single-transaction", "-d", to]
        subprocess.run(
            load, env=os.environ | _path(programs), stdin=dumped.stdout, stdout=subprocess.DEVNULL, check=True
        )
    assert dumped.returncode == 0


def _path(programs: Path) -> dict[str, str]:
    return {"PATH": f"{programs}:{os.environ['PATH']}"}

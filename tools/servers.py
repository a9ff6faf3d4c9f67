"""A PostgreSQL, a Redis and an nginx of one's own, which may be killed and restored: the machine's are not touched. Of the
machine's RabbitMQ, a virtual host of one's own.
"""

import contextlib
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final, Self

import psycopg
import redis

from tests.ports import free_port

START = 30.0  # seconds
NGINX = Path(__file__).resolve().parents[1] / "deploy/nginx.conf"
TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


RABBITMQ: Final = "amqp://guest:guest@127.0.0.1:5672/"


class Missing(Exception):
    """A program is not installed, or a server isn't there."""


class RabbitMQ:
    """A virtual host, with queues of its own, in the machine's server. A context manager."""

    def __init__(self, name: str) -> None:
        if not shutil.which("rabbitmqctl") or not _listens(5672):
            raise Missing("RabbitMQ doesn't run at its usual port, or rabbitmqctl is not installed")
        asked = subprocess.run(["rabbitmqctl", "status"], capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            raise Missing(f"RabbitMQ may not be administered: {asked.stderr.strip()[:300]}")
        self.name, self.url = name, f"{RABBITMQ}{name}"

    def make(self) -> None:
        _rabbitmqctl("add_vhost", self.name)
        _rabbitmqctl("set_permissions", "--vhost", self.name, "guest", ".*", ".*", ".*")

    def remove(self) -> None:
        """With its queues and all messages, and cut its connections."""
        _rabbitmqctl("delete_vhost", self.name)

    def empty(self) -> None:
        """Remove all messages."""
        for queue in _rabbitmqctl(
            "list_queues", "--quiet", "--no-table-headers", "--vhost", self.name, "name"
        ):
            _rabbitmqctl("purge_queue", "--vhost", self.name, queue)

    def __enter__(self) -> Self:
        self.make()
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class Redis:
    """A server that keeps nothing on disk. A context manager."""

    def __init__(self, address: str = "127.0.0.1") -> None:
        if shutil.which("redis-server") is None:
            raise Missing("redis-server is not installed, and the machine's own server must not be stopped")
        self._address, self.port = address, free_port()
        self.url = f"redis://{address}:{self.port}/0"
        self.client = redis.Redis.from_url(self.url, socket_timeout=5)

    def start(self) -> None:
        self._folder = tempfile.TemporaryDirectory(
            prefix="extension-platform-redis-"
        )  # for what replicas load
        self._process = subprocess.Popen(
            [
                "redis-server", "--port", str(self.port), "--bind", self._address, "--save", "",
                "--protected-mode", "no", "--dir", self._folder.name,
            ],
            stdout=subprocess.DEVNULL,
        )  # fmt: skip
        _wait(self._answers)

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._folder.cleanup()

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
    """A cluster in a temporary directory. A context manager. `environment` is added to that of its programs."""

    def __init__(self) -> None:
        self.programs = _postgres_programs()
        self.port = free_port()
        self.directory = Path(tempfile.mkdtemp(prefix="extension-platform-postgres-"))
        self.data = self.directory / "data"
        self.environment: dict[str, str] = {}
        # PostgreSQL refuses to run as root.
        self.as_user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
        self._give(self.directory)

    def _give(self, path: Path) -> None:
        """To the cluster's owner."""
        if self.as_user:
            owner = pwd.getpwnam("postgres")
            os.chown(path, owner.pw_uid, owner.pw_gid)

    @property
    def url(self) -> str:
        return f"postgres://postgres@127.0.0.1:{self.port}"

    def connect(self, database: str = "postgres") -> "psycopg.Connection[Any]":
        return psycopg.connect(f"{self.url}/{database}", autocommit=True, connect_timeout=5)

    def restart(self, *, pause: float = 0.0) -> None:
        """As after a crash: no connection is ended politely, and the log is replayed. `pause` is in seconds."""
        self.crash()
        time.sleep(pause)
        self.start()

    def crash(self) -> None:
        self._control("stop", "-w", "-m", "immediate")

    def start(self) -> None:
        self._control("start", "-w", "-l", str(self.directory / "log"))

    def processes(self) -> list[int]:
        """The process IDs of the server and of its sessions now."""
        first = (self.data / "postmaster.pid").read_text().splitlines()[0]
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [int(first), *map(int, children)]

    def configure(self, **settings: str) -> None:
        """For the next start."""
        with (self.data / "postgresql.conf").open("a") as file:
            file.writelines(f"{name} = '{value}'\n" for name, value in settings.items())

    def run(self, program: str, *arguments: str) -> None:
        """One of PostgreSQL's programs, or of the system's, as the cluster's owner."""
        known = self.programs / program
        subprocess.run(
            [*self.as_user, str(known) if known.exists() else program, *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            cwd=self.directory,
            env=os.environ | self.environment,
        )

    def _control(self, *arguments: str) -> None:
        self.run("pg_ctl", "-D", str(self.data), *arguments)

    def make(self) -> None:
        """An empty cluster, which isn't started."""
        self.run(
            "initdb",
            "-D",
            str(self.data),
            "--auth=trust",
            "--username=postgres",
            "--encoding=UTF8",
            "--no-sync",
        )
        self.configure(
            port=str(self.port), listen_addresses="127.0.0.1", unix_socket_directories=str(self.directory)
        )

    def __enter__(self) -> Self:
        self.make()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(subprocess.CalledProcessError):
            self.crash()
        shutil.rmtree(self.directory, ignore_errors=True)


class Nginx:
    """`deploy/nginx.conf` for the web servers at these addresses, without TLS. A context manager.

    Its files are in `folder`. `before` is put before the command, to run it elsewhere.
    """

    def __init__(self, folder: Path, *, listen: str, web: Iterable[str], before: Iterable[str] = ()) -> None:
        if shutil.which("nginx") is None:
            raise Missing("nginx is not installed")
        self.folder, self._before = folder, list(before)
        folder.mkdir(exist_ok=True)
        (folder / "nginx.conf").write_text(self._configuration(NGINX.read_text(), listen, web))

    def _configuration(self, text: str, listen: str, web: Iterable[str]) -> str:
        temporary = "".join(f"\n    {name}_temp_path {self.folder}/{name};" for name in TEMPORARY)
        for pattern, instead in {
            r"worker_processes auto;": "worker_processes 1;\ndaemon off;",
            r"(?:\n +server web\d:8000(.*;))+": lambda found: "".join(
                f"\n        server {address}{found[1]}" for address in web
            ),
            r"    server \{\s+listen 80;(?s:.*?)\n    \}\n": "",
            r"listen 443 ssl;": f"listen {listen};",
            r"\n +listen \[::\]:443 ssl;": "",
            r"\n +ssl_.*": "",
            r"/var/(cache|log)/nginx": str(self.folder),
            r"server_tokens off;": f"server_tokens off;{temporary}",
        }.items():
            text, count = re.subn(pattern, instead, text)
            assert count, pattern
        user = "user root;\n" if os.geteuid() == 0 else ""
        return f"{user}pid {self.folder}/nginx.pid;\n{text}"

    def start(self) -> None:
        with (self.folder / "nginx.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *self._before, "nginx", "-p", str(self.folder), "-e", "stderr",
                    "-c", str(self.folder / "nginx.conf"),
                ],
                stderr=log,
                start_new_session=True,
            )  # fmt: skip
        # It reads its files before it listens, and ends if one is missing. Its log says which.
        with contextlib.suppress(subprocess.TimeoutExpired):
            status = self._process.wait(0.5)
            said = (self.folder / "nginx.log").read_text()[-500:]
            raise Missing(f"nginx ended with status {status}: {said}")

    def kill(self) -> None:
        """The process and its workers, with all connections."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(10)


def _rabbitmqctl(*arguments: str) -> list[str]:
    """The lines that it prints."""
    done = subprocess.run(["rabbitmqctl", *arguments], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + START
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"The server did not start within {START:.0f} s.")
        time.sleep(0.01)


def _postgres_programs() -> Path:
    on_path = shutil.which("pg_ctl")
    found = [Path(on_path)] if on_path else sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"))
    if not found or (os.geteuid() == 0 and shutil.which("runuser") is None):
        raise Missing(
            "PostgreSQL's pg_ctl is not installed, and the machine's own server must not be stopped"
        )
    return found[-1].parent

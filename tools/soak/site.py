"""The processes of an installation behind nginx, and who starts those again that die."""

import json
import os
import shutil
import signal
import subprocess
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from secrets import token_bytes, token_urlsafe
from time import monotonic, sleep, time
from typing import Any, Self

import requests

from tests.ports import free_port
from tools.backups import BackedUp
from tools.released_tree import interpreter
from tools.servers import Nginx, RabbitMQ, Redis
from tools.soak.calls import ERASED_AFTER

ROOT = Path(__file__).resolve().parents[2]
RETRY_DELAYS = "1,2,4,8,16,16"
STARTS_WITHIN = 180.0  # seconds, on a busy machine
STOPS_WITHIN = 40.0
# The verdict reads the log of PostgreSQL, whose times would be those of the machine's zone.
LOG_OF_POSTGRES = {"log_lock_waits": "on", "log_timezone": "UTC"}

# As docs/operations-install.md has it, now and of the first release, which had no commands of its own for these.
COMMANDS = {"web": "manage.py serve", "worker": "manage.py work", "beat": "manage.py schedule"}
COMMANDS_OF_FIRST_RELEASE = {
    "web": "-m gunicorn config.wsgi --threads 8 --no-control-socket --bind {BIND}",
    "worker": "-m celery -A config worker --pool threads --concurrency 4 --hostname {NAME}@%h",
    "beat": "-m celery -A config beat --pidfile= --schedule {VAR_DIR}/schedule",
}


class Member:
    """One process of the site, with those that it starts. `tree` is the folder of the version that it runs."""

    def __init__(self, name: str, folder: Path, tree: Path, **environment: str) -> None:
        self.name = name
        self.tree = tree
        self.is_wanted = True
        self.log = folder / f"{name}.log"
        self.process: subprocess.Popen[bytes] | None = None
        self.is_killed = False
        self._environment = environment

    @property
    def role(self) -> str:
        return self.name.rstrip("0123456789")

    def _command(self, environment: dict[str, str]) -> list[str]:
        has_commands = (self.tree / "config/management/commands/serve.py").exists()
        line = (COMMANDS if has_commands else COMMANDS_OF_FIRST_RELEASE)[self.role]
        return [interpreter(self.tree), *line.format_map(environment | {"NAME": self.name}).split()]

    def start(self, environment: dict[str, str]) -> None:
        environment = environment | self._environment
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command(environment),
                cwd=self.tree,
                env=environment | {"PYTHONPATH": f"{self.tree}:{self.tree}/sdk/python:{self.log.parent}"},
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def signal(self, number: int) -> None:
        """To the process and those it started."""
        assert self.process
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def terminate(self) -> None:
        assert self.process
        with suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGTERM)
        try:
            self.process.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            self.signal(signal.SIGKILL)
            self.process.wait()


class Site:
    """A context manager: PostgreSQL, Redis, nginx, two web processes, two workers and the scheduler.

    The broker is `rabbitmq`, or else Redis. With `leap_every`, hours pass in so many seconds, and what is due hourly or daily comes as
    often; erasures wait for their 48 hours.
    """

    def __init__(
        self, folder: Path, tree: Path, *, rabbitmq: RabbitMQ | None = None, leap_every: float = 0.0
    ) -> None:
        self.folder = folder
        self.tree = tree
        self.began = time()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._web_ports = [free_port(), free_port()]
        self.rabbitmq = rabbitmq
        self.mails = folder / "mails"
        self.proxy = Nginx(
            folder / "nginx",
            listen=f"127.0.0.1:{self.port}",
            web=[f"127.0.0.1:{port}" for port in self._web_ports],
        )
        self.postgres = BackedUp()
        self.redis = Redis()
        self.members: list[Member] = []
        self.ended_by_themselves: list[str] = []  # names, each with its exit status
        self._lock = threading.RLock()
        self._replaced = threading.Lock()  # one at a time is
        self._over = threading.Event()
        self.environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "soak_settings",
            "DATABASE_URL": f"{self.postgres.url}/soak",
            "REDIS_URL": self.redis.url,
            "CELERY_BROKER_URL": rabbitmq.url if rabbitmq else self.redis.url,
            "DEBUG": "0",
            "ALLOW_LOCAL_DESTINATIONS": "0",
            "BASE_URL": self.url,
            "STORES_URL": f"http://{{slug}}.stores.localhost:{self.port}",
            "ALLOWED_HOSTS": "127.0.0.1",
            "SECRET_KEY": token_urlsafe(48),
            "FIELD_ENCRYPTION_KEYS": urlsafe_b64encode(token_bytes(32)).decode(),
            "TRUSTED_PROXIES": "127.0.0.1",
            "METRICS_TOKEN": token_urlsafe(48),
            "WEBHOOK_RETRY_DELAYS": RETRY_DELAYS,
            **(
                {"LEAP_EVERY": str(leap_every)}
                if leap_every
                else {"DATA_ERASURE_DELAY": str(int(ERASED_AFTER))}
            ),
            "EMAIL_URL": f"filemail:///{self.mails}",
            "NEW_STORE_MAILS": "1000000",
            "VAR_DIR": str(folder / "var"),
            "LOG_LEVEL": "INFO",
            "MALLOC_ARENA_MAX": "1",  # as deploy/ sets it
        }

    @property
    def addresses(self) -> list[str]:
        """Of the web processes, past the proxy."""
        return [f"http://127.0.0.1:{port}" for port in self._web_ports]

    # Commands

    def run(self, *arguments: str, tree: Path | None = None) -> str:
        """A command of one version, in the installation's environment. Returns what it printed."""
        tree = tree or self.tree
        done = subprocess.run(
            [interpreter(tree), *arguments],
            cwd=tree,
            env=self.environment | {"PYTHONPATH": f"{tree}:{tree}/sdk/python:{self.folder}"},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)} failed:\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
        return done.stdout

    def seed(self, receiver: str, *, apps: int, merchants: int) -> dict[str, Any]:
        script = str(ROOT / "tools/soak/seed.py")
        found: dict[str, Any] = json.loads(
            self.run(script, receiver, str(apps), str(merchants)).splitlines()[-1]
        )
        return found

    # Processes

    def _members(self) -> Iterator[Member]:
        for number, port in enumerate(self._web_ports, 1):
            yield Member(f"web{number}", self.folder, self.tree, BIND=f"127.0.0.1:{port}")
        for name in ("worker1", "worker2", "beat"):
            yield Member(name, self.folder, self.tree)

    def of_role(self, role: str) -> list[Member]:
        return [member for member in self.members if member.role == role]

    def kill(self, member: Member) -> None:
        member.is_killed = True
        member.signal(signal.SIGKILL)

    def replace(self, member: Member, tree: Path | None = None) -> None:
        """Stop it as an operator does, and start it again, maybe in another version."""
        with self._replaced:
            with self._lock:
                member.is_wanted = False
            member.terminate()
            with self._lock:
                member.tree = tree or member.tree
                member.start(self.environment)
                member.is_wanted = True
            self.wait_for(member)

    def wait_for(self, member: Member) -> None:
        """Until a web process is ready. Others need a moment only they know of."""
        if member.role == "web":
            _wait(lambda: self._is_ready(member), member)

    def wait_until_ready(self) -> None:
        """Until the installation has recovered from a fault: each web process is ready."""
        for member in self.of_role("web"):
            self.wait_for(member)

    def _is_ready(self, member: Member) -> bool:
        port = self._web_ports[int(member.name[-1]) - 1]
        with suppress(requests.RequestException):
            return requests.get(f"http://127.0.0.1:{port}/readyz", timeout=5).status_code == 200
        return False

    def _supervise(self) -> None:
        """As systemd does it: what dies is started again after a second."""
        while not self._over.wait(1.0):
            with self._lock:
                for member in self.members:
                    if member.is_wanted and member.process and member.process.poll() is not None:
                        if not member.is_killed:
                            self.ended_by_themselves.append(f"{member.name}: {member.process.returncode}")
                        member.is_killed = False
                        member.start(self.environment)

    def __enter__(self) -> Self:
        shutil.copy(ROOT / "tools/soak/settings.py", self.folder / "soak_settings.py")
        self.mails.mkdir()
        with ExitStack() as started:  # what has been started is ended if the rest can't be
            started.push(self.postgres)  # first, since a start that is interrupted leaves its files
            self.postgres.__enter__()
            self.postgres.configure(**LOG_OF_POSTGRES)
            self.postgres.restart()
            started.enter_context(self.redis)
            if self.rabbitmq:
                started.enter_context(self.rabbitmq)
            with self.postgres.connect() as session:
                session.execute("CREATE DATABASE soak")
            self.run("manage.py", "migrate", "--verbosity=0")
            self.run("manage.py", "collectstatic", "--noinput", "--verbosity=0")
            started.callback(self._kill_all)
            self.members = list(self._members())
            for member in self.members:
                member.start(self.environment)
            started.enter_context(self.proxy)
            for member in self.members:
                self.wait_for(member)
            threading.Thread(target=self._supervise, daemon=True).start()
            self._started = started.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._started.close()

    def _kill_all(self) -> None:
        self._over.set()
        with self._lock:
            for member in self.members:
                member.is_wanted = False
                if member.process:
                    member.signal(signal.SIGCONT)
                    member.signal(signal.SIGKILL)


def _wait(condition: Callable[[], bool], member: Member) -> None:
    end = monotonic() + STARTS_WITHIN
    while not condition():
        if monotonic() > end:
            raise RuntimeError(f"{member.name} did not start:\n{member.log.read_text()[-3000:]}")
        sleep(0.05)

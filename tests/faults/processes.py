"""The processes of an installation, to be started, killed and paused by tests."""

import contextlib
import os
import signal
import subprocess
import sys
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from django.db import connection

from tests.waiting import TimedOut, wait_until

ROOT = Path(__file__).parents[2]


def database_url() -> str:
    """The database that the tests use at the moment."""
    at = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{at['NAME']}"
    user = urlsplit(os.environ["DATABASE_URL"])._replace(path=f"/{at['NAME']}")
    if at["PORT"]:
        credentials = user.netloc.rpartition("@")[0]
        user = user._replace(netloc=f"{credentials}@{at['HOST']}:{at['PORT']}")
    return user.geturl()


class Process:
    """One command, with the processes that it starts. Its output goes to a file."""

    def __init__(
        self,
        command: tuple[str, ...],
        environment: dict[str, str],
        log: Path,
        *,
        prefix: tuple[str, ...] = (),
    ) -> None:
        self._log = log
        with log.open("wb") as target:
            self._popen = subprocess.Popen(
                [*prefix, sys.executable, "-m", "tests.faults.process", *command],
                cwd=ROOT,
                env=os.environ | {"DATABASE_URL": database_url()} | environment,
                stdout=target,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.pid = self._popen.pid

    @property
    def output(self) -> str:
        return self._log.read_text(errors="replace")

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def signal(self, number: int) -> None:
        """To the process and those it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, number)

    def signal_first(self, number: int) -> None:
        """To the process alone, as a service manager does."""
        os.kill(self.pid, number)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._popen.wait()

    def terminate(self, timeout: float = 20) -> None:
        self.signal(signal.SIGTERM)
        self.wait_for_death(timeout)

    def wait_for_death(self, timeout: float = 30) -> int:
        """Its exit status, once it has died by itself."""
        try:
            return self._popen.wait(timeout)
        except subprocess.TimeoutExpired:
            raise TimedOut(f"It did not die within {timeout} s:\n{self.output}") from None

    def wait_for_output(self, text: str, timeout: float = 30) -> None:
        wait_until(lambda: text in self.output, timeout, said=lambda: self.output)

    def peak_memory(self) -> int:
        """KiB, the most that it has held at once."""
        (line,) = (
            line for line in Path(f"/proc/{self.pid}/status").read_text().splitlines() if "VmHWM" in line
        )
        return int(line.split()[1])


class Processes:
    """Starts processes on the test's database. `environment` is for all of them."""

    def __init__(self, directory: Path, **environment: str) -> None:
        self._directory = directory
        self.settings = {"REDIS_URL": "", "CELERY_BROKER_URL": "", "LOG_LEVEL": "INFO"} | environment
        self._numbers = count(1)
        self.started: list[Process] = []

    def use(self, **environment: str) -> None:
        """For all processes from now on."""
        self.settings |= environment

    def start(self, *command: str, prefix: tuple[str, ...] = (), **environment: str) -> Process:
        """`prefix` is put before the command, to run it elsewhere."""
        log = self._directory / f"{next(self._numbers)}-{command[0]}.log"
        self.started.append(Process(command, self.settings | environment, log, prefix=prefix))
        return self.started[-1]

    def deliver(self, **environment: str) -> Process:
        """A dispatcher without Celery."""
        return self.start("manage.py", "deliver", "--forever", **environment)

    def worker(self, *, pool: str = "threads", **environment: str) -> Process:
        return self.start("manage.py", "work", "--pool", pool, **environment)

    def beat(self, **environment: str) -> Process:
        state = self._directory / f"schedule-{next(self._numbers)}"
        return self.start("manage.py", "schedule", "--state", str(state), **environment)

    def web(self, port: int, *, prefix: tuple[str, ...] = (), **environment: str) -> Process:
        """What `manage.py serve` runs, in this process, so that faults are built in."""
        command = ("gunicorn", "--config", "python:config.gunicorn", "config.wsgi")
        settings = {"BIND": f"127.0.0.1:{port}", "WEB_PROCESSES": "1"} | environment
        return self.start(*command, prefix=prefix, **settings)

    def end(self) -> None:
        for process in self.started:
            process.signal(signal.SIGCONT)
            process.kill()

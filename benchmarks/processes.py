"""Starting the processes that take part, talking to them in lines of JSON, and what they cost."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from benchmarks.environment import ROOT

GRACE = 20.0  # seconds between SIGTERM and SIGKILL


class Failed(Exception):
    """A process ended, or did not do in time what it was started for."""


class Process:
    """A child process with a pipe to and from it. Its log goes to a file that failures quote."""

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        *,
        log: IO[bytes],
        name: str,
        tree: Path = ROOT,
    ) -> None:
        self.name = name
        self._log = log
        self._popen = subprocess.Popen(
            arguments,
            cwd=tree,
            # PostgreSQL shows the name beside each session.
            env=os.environ | environment | {"PGAPPNAME": name},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )

    @property
    def pid(self) -> int:
        return self._popen.pid

    def tell(self, message: Any) -> None:
        assert self._popen.stdin
        self._popen.stdin.write(json.dumps(message) + "\n")
        self._popen.stdin.flush()

    def hear(self, within: float | None = None) -> Any:
        """The next line that the process writes. `within` so many seconds where each line is asked for."""
        assert self._popen.stdout
        if within is not None and not select.select([self._popen.stdout], [], [], within)[0]:
            raise Failed(f"{self.name} said nothing for {within:.0f} s:\n{self._last_words()}")
        line = self._popen.stdout.readline()
        if not line:
            raise Failed(f"{self.name} ended with {self._popen.wait()}:\n{self._last_words()}")
        return json.loads(line)

    def alive(self) -> bool:
        return self._popen.poll() is None

    def wait(self, timeout: float) -> str:
        """Its remaining output, once it has ended well by itself."""
        output, _ = self._popen.communicate(timeout=timeout)
        if self._popen.returncode:
            raise Failed(f"{self.name} ended with {self._popen.returncode}:\n{self._last_words()}")
        return output

    def end(self, *, at_once: bool = False) -> None:
        if self.alive():
            self._popen.send_signal(signal.SIGKILL if at_once else signal.SIGTERM)
        try:
            self._popen.communicate(timeout=GRACE)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.communicate()

    def cpu(self) -> float:
        return cpu_of(self.pid)

    def resident(self, field: str = "VmRSS") -> float:
        """Memory in MB: `VmRSS` now, `VmHWM` at most since `reset_peak`."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) / 1024
        raise Failed(f"The kernel has no {field} for {self.name}.")

    def reset_peak(self) -> None:
        Path(f"/proc/{self.pid}/clear_refs").write_text("5")

    def _last_words(self) -> str:
        self._log.flush()
        return Path(self._log.name).read_text(errors="replace")[-2000:]


@contextmanager
def started(
    folder: Path,
    name: str,
    *arguments: str,
    program: str = sys.executable,
    tree: Path = ROOT,
    **environment: str,
) -> Iterator[Process]:
    """Run Python, or another program, in a tree with these arguments and variables; ends the process in any case."""
    with (folder / f"{name}.log").open("ab") as log:
        process = Process([program, *arguments], environment, log=log, name=name, tree=tree)
        try:
            yield process
        finally:
            process.end()


def cpu_of(pid: int) -> float:
    """Seconds of processor that a process and its threads have used, by its CPU clock (clock_getcpuclockid)."""
    return time.clock_gettime((~pid << 3) | 2)


def cpu_with(backend: int) -> float:
    """Seconds of this process, and of its server process of PostgreSQL on the same machine."""
    return time.process_time() + cpu_of(backend)


def wait_for(condition: Callable[[], bool], timeout: float, what: str, pause: float = 0.05) -> None:
    """Look again and again until the condition holds."""
    end = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"Waited {timeout:.0f} s in vain for {what}.")
        time.sleep(pause)

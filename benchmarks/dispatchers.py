"""The product's own processes that send, started as an operator would, and what they cost.

`python -m benchmarks.dispatchers` is `manage.py deliver` with its SQL statements counted, which the kernel can't.
"""

import json
import secrets
import socket
import urllib.request
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import Any, Final

from prometheus_client.parser import text_string_to_metric_families

from benchmarks.processes import Process, cpu_of, started, wait_for

TOKEN: Final = secrets.token_urlsafe(32)  # for the metrics
STEPS: Final = "extension_platform_delivery_step_seconds"

# Of each step, how many deliveries took at most so many seconds.
Steps = Mapping[str, Mapping[float, float]]


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of processor: of our processes, and of their sessions in PostgreSQL (None where it is elsewhere)."""

    ours: float
    postgres: float | None

    def since(self, earlier: "Cost") -> "Cost":
        both = None not in (self.postgres, earlier.postgres)
        return Cost(self.ours - earlier.ours, self.postgres - earlier.postgres if both else None)  # type: ignore[operator]


class Dispatchers:
    def __init__(self, processes: Sequence[Process], ports: Sequence[int]) -> None:
        """`ports` are those of their metrics."""
        self.processes = processes
        self._ports = ports

    def cost(self) -> Cost:
        return Cost(sum(process.cpu() for process in self.processes), self._postgres())

    def kill(self) -> None:
        """End them at once, with whatever is under way."""
        for process in self.processes:
            process.end(at_once=True)

    def sessions(self) -> list[int]:
        """The processes of PostgreSQL that serve these."""
        return _sessions([process.name for process in self.processes])

    def steps(self) -> Steps:
        """Of all their deliveries, as operators read it."""
        found: defaultdict[str, defaultdict[float, float]] = defaultdict(lambda: defaultdict(float))
        for port in self._ports:
            for family in text_string_to_metric_families(_metrics(port)):
                for sample in family.samples:
                    if sample.name == f"{STEPS}_bucket":
                        found[sample.labels["step"]][float(sample.labels["le"])] += sample.value
        return found

    def _postgres(self) -> float | None:
        return cpu_of_sessions([process.name for process in self.processes])


def cpu_of_sessions(names: Sequence[str]) -> float | None:
    """Seconds of processor of PostgreSQL's processes that serve those with these names; None where it is elsewhere."""
    pids = _sessions(names)
    if not all(is_postgres(pid) for pid in pids):
        return None
    return sum(cpu_of(pid) for pid in pids)


def _sessions(names: Sequence[str]) -> list[int]:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = ANY(%s)",
            [list(names)],
        )
        return [pid for (pid,) in cursor.fetchall()]


def is_postgres(pid: int) -> bool:
    """Whether the number means a session of PostgreSQL on this machine too."""
    try:
        return "postgres" in Path(f"/proc/{pid}/comm").read_text()
    except OSError:
        return False


@contextmanager
def dispatching(folder: Path, count: int = 2) -> Iterator[Dispatchers]:
    """`manage.py deliver --forever`, so many times, each in touch with the database."""
    with ExitStack() as stack:
        ports = _free_ports(count)
        processes = [
            stack.enter_context(_shown(port, folder, f"deliver-{number}", "deliver", "--forever"))
            for number, port in enumerate(ports)
        ]
        dispatchers = Dispatchers(processes, ports)
        wait_for(lambda: len(dispatchers.sessions()) == count, 120, "the dispatchers to come up")
        yield dispatchers
        for process in dispatchers.processes:
            process.end()


@contextmanager
def celery(folder: Path) -> Iterator[Dispatchers]:
    """`manage.py work` and `manage.py schedule`, as docs/operations-install.md starts them."""
    with ExitStack() as stack:
        ports = _free_ports(1)
        worker = stack.enter_context(_shown(ports[0], folder, "worker", "work"))
        state = str(folder / "schedule")
        beat = stack.enter_context(started(folder, "beat", "manage.py", "schedule", "--state", state))
        dispatchers = Dispatchers([worker, beat], ports)
        wait_for(lambda: bool(dispatchers.sessions()), 60, "the worker to come up")
        yield dispatchers


def _free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        bound = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in bound]


def _shown(port: int, folder: Path, name: str, *command: str) -> AbstractContextManager[Process]:
    """A command of `manage.py` that shows its metrics at this port."""
    bind = f"127.0.0.1:{port}"
    return started(folder, name, "manage.py", *command, METRICS_BIND=bind, METRICS_TOKEN=TOKEN)


def _metrics(port: int) -> str:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request) as answer:
        return str(answer.read().decode())


def quantile(counts: Mapping[float, float], share: float) -> float:
    """Seconds that `share` of them did not exceed, by a straight line within a bucket, as Prometheus has it."""
    wanted = counts[inf] * share
    for (low, before), (high, upto) in pairwise([(0.0, 0.0), *sorted(counts.items())]):
        if upto >= wanted and upto > before:
            return low if high == inf else low + (high - low) * (wanted - before) / (upto - before)
    return 0.0


def statements_of_a_drain(folder: Path, count: int = 2) -> int:
    """Let dispatchers send all that is due and end. How many SQL statements they made for it."""
    with ExitStack() as stack:
        processes = [
            stack.enter_context(started(folder, f"counted-{number}", "-m", "benchmarks.dispatchers"))
            for number in range(count)
        ]
        return sum(process.hear() for process in processes)


def _main() -> None:
    import django
    from django.core.management import call_command
    from django.db import connection

    django.setup()
    statements = 0

    def counted(execute: Any, *args: Any) -> Any:
        nonlocal statements
        statements += 1
        return execute(*args)

    with connection.execute_wrapper(counted), open("/dev/null", "w") as nowhere:
        call_command("deliver", stdout=nowhere)
    print(json.dumps(statements), flush=True)


if __name__ == "__main__":
    _main()

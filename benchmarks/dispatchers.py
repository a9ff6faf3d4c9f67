"""The product's own processes that send, started as an operator would, and what they cost.

`python -m benchmarks.dispatchers` is `manage.py deliver` with its SQL statements counted, which the kernel can't.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.processes import Process, cpu_of, started, wait_for


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of processor: of our processes, and of their sessions in PostgreSQL (None where it is elsewhere)."""

    ours: float
    postgres: float | None

    def since(self, earlier: "Cost") -> "Cost":
        both = None not in (self.postgres, earlier.postgres)
        return Cost(self.ours - earlier.ours, self.postgres - earlier.postgres if both else None)  # type: ignore[operator]


class Dispatchers:
    def __init__(self, processes: Sequence[Process]) -> None:
        self.processes = processes

    def cost(self) -> Cost:
        return Cost(sum(process.cpu() for process in self.processes), self._postgres())

    def kill(self) -> None:
        """End them at once, with whatever is under way."""
        for process in self.processes:
            process.end(at_once=True)

    def sessions(self) -> list[int]:
        """The processes of PostgreSQL that serve these."""
        return _sessions([process.name for process in self.processes])

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
        dispatchers = Dispatchers(
            [
                stack.enter_context(started(folder, f"deliver-{number}", "manage.py", "deliver", "--forever"))
                for number in range(count)
            ]
        )
        wait_for(lambda: len(dispatchers.sessions()) == count, 120, "the dispatchers to come up")
        yield dispatchers
        for process in dispatchers.processes:
            process.end()


@contextmanager
def celery(folder: Path) -> Iterator[Dispatchers]:
    """`manage.py work` and `manage.py schedule`, as docs/operations-install.md starts them."""
    with ExitStack() as stack:
        worker = stack.enter_context(started(folder, "worker", "manage.py", "work"))
        state = str(folder / "schedule")
        beat = stack.enter_context(started(folder, "beat", "manage.py", "schedule", "--state", state))
        dispatchers = Dispatchers([worker, beat])
        wait_for(lambda: bool(dispatchers.sessions()), 60, "the worker to come up")
        yield dispatchers


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

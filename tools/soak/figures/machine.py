"""Faults, processes, locks, logs, memory."""

import re
from collections.abc import Iterator

from tools.soak.figures.finding import Finding, at_most, none_of
from tools.soak.memory import MINUTES, WARM_UP
from tools.soak.run import Run, entry, moment

STEEP = 0.01  # growth of memory in ten minutes
RESTORED_WITHIN = 300.0  # seconds


def faults(run: Run) -> Iterator[Finding]:
    """A run without its upgrade, its restore, or one of the other planned faults has not shown what it is for."""
    if run.faults is None:
        return
    kinds = [window.kind for window in run.windows]
    yield Finding("faults", ", ".join(f"{kind}: {kinds.count(kind)}" for kind in sorted(set(kinds))))
    yield none_of("planned faults that did not come", sorted(run.faults.planned - set(kinds)))
    if run.faults.migrated_in is not None:
        yield Finding("migrations under load", f"{run.faults.migrated_in:.1f} s")
    if "restore" in kinds:
        took = run.faults.first_delivery_after_restore
        undone = run.ledger.undone
        what = f", to a moment {undone[1] - undone[0]:.1f} s before" if undone else ""
        yield at_most(f"first delivery after PostgreSQL was lost and restored{what}", took, RESTORED_WITHIN)


def processes(run: Run) -> Iterator[Finding]:
    yield none_of("processes that ended by themselves", run.site.ended_by_themselves if run.site else [])


def locks(run: Run) -> Iterator[Finding]:
    """`log_lock_waits` writes a line for each statement that waited for a second."""
    if run.site is None:
        return
    log = (run.site.postgres.directory / "log").read_text(errors="replace")
    waits = [line for line in log.splitlines() if "still waiting for" in line]
    # A process that was stopped keeps its locks: that wait is the fault itself. Hours pass for all tables at once.
    paused = run.windows.of("worker is paused", "hours pass")
    outside = [line for line in waits if not paused.excuse_line(moment(line[:23]))]
    yield none_of(
        "statements that waited over 1 s for a lock, apart from those of paused processes",
        outside,
        of=len(waits),
        by_speed=True,
    )


def errors(run: Run) -> Iterator[Finding]:
    """Errors belong to a fault; a thread or process that crashed has logged a critical one. The first release's log has no times."""
    written, outside = 0, []
    for name, line in run.logs:
        said = entry(line)
        if said.get("level") not in ("ERROR", "CRITICAL"):
            continue
        written += 1
        if "timestamp" in said and not run.windows.excuse_line(moment(said["timestamp"])):
            outside.append(f"{name}: {line[:600]}")
    yield none_of("errors in the log, apart from those during a fault", outside, of=written)


def secrets(run: Run) -> Iterator[Finding]:
    """No credential and nothing of a person is in any log."""
    if run.site is None:
        return
    known = {run.world["password"], "kim@example.com", "1 Harbour Road", "Kim 00"}
    known |= {merchant["email"] for merchant in run.world["merchants"]}
    known |= {app["client_secret"] for app in run.world["apps"]}
    known |= {secret for install in run.ledger.installs for secret in (install.token, install.secret)}
    known |= {run.site.environment[name] for name in ("SECRET_KEY", "FIELD_ENCRYPTION_KEYS", "METRICS_TOKEN")}
    searched = re.compile("|".join(map(re.escape, known)))
    wrong = [f"{name}: {line[:300]}" for name, line in run.logs if searched.search(line)]
    yield none_of("lines of the log with a secret or personal data", wrong)


def memory(run: Run) -> Iterator[Finding]:
    """Judged for processes that lived for long enough; for the others only shown."""
    lives = run.memory.lives.values() if run.memory else ()
    if not any(life.slope is not None for life in lives):
        yield Finding(
            "growth of memory", f"not judged: it takes {WARM_UP + MINUTES} minutes of a process's life"
        )
    for life in sorted(lives, key=lambda life: life.name):
        if len(life.minutes) < 2:
            continue
        slope = life.slope
        yield Finding(
            f"memory of {life.name}",
            f"{', '.join(f'{size:.1f}' for _, size in life.minutes)} MB, by minute"
            + ("" if slope is None else f"; {slope:+.2%} in ten minutes, after the first {WARM_UP}"),
            "it grows" if slope is not None and slope > STEEP else "",
            by_speed=True,
        )


FIGURES = (faults, processes, locks, errors, secrets, memory)

"""Proves the figures: each deliberate defect of `defects` has to turn its figure red. `python -m tools.soak --unprotected`."""

import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from tests.faults.protections import Change, source_of
from tools.soak import course
from tools.soak.defects import DEFECTS, Defect, week
from tools.soak.figures import ALL, Finding
from tools.soak.site import ROOT

SECONDS: Final = 75.0  # of load in each run; an erasure is sent, and an app comes back meanwhile
SECONDS_OF_A_WEEK: Final = 180.0
SETTLES_WITHIN: Final = 60.0  # some defects keep deliveries from ever being over
NOT_COPIED: Final = (".git", ".venv", "build", "var", "node_modules", "__pycache__", ".*_cache")


def prove(seed: int, keep: Path | None, only: str | None = None) -> int:
    """Runs each group of defects, and prints which figure caught which. The status to exit with: 1 if one was missed."""
    missed = 0
    for group, defects in groups().items():
        if only not in (None, group):
            continue
        with ExitStack() as stack:
            folder = (
                keep / group
                if keep
                else Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="soak-")))
            )
            tree = broken_tree(
                folder / "tree", [each for defect in defects.values() for each in defect.changes]
            )
            print(f"{group}: {len(defects)} defects", file=sys.stderr, flush=True)
            is_week = group == week.GROUP
            plan = course.Plan(
                seconds=SECONDS_OF_A_WEEK if is_week else SECONDS,
                seed=seed,
                tree=tree,
                has_faults=False,
                settles_within=SETTLES_WITHIN,
                is_week=is_week,
            )
            run = course.run(plan, folder, stack)
            red = [found for figure in ALL for found in figure(run) if found.problem]
        for name, defect in defects.items():
            caught = next(_of(defect, red), None)
            missed += caught is None
            what = f"{caught.name}: {caught.value}" if caught else f"MISSED by: {defect.figure}"
            print(f"{name}\n  {what}", flush=True)
        print(f"Also red in {group}: {'; '.join(_others(defects.values(), red)) or 'nothing'}.", flush=True)
    print(f"{missed} defects were missed." if missed else "Each defect was found by its figure.")
    return min(missed, 1)


def groups() -> dict[str, dict[str, Defect]]:
    found: dict[str, dict[str, Defect]] = defaultdict(dict)
    for name, defect in DEFECTS.items():
        found[defect.group][name] = defect
    return found


def broken_sources(changes: Iterable[Change]) -> dict[str, str]:
    """The source of each changed module. Raises LookupError where a change doesn't fit once."""
    sources: dict[str, str] = {}
    for change in changes:
        source = sources.get(change.module) or source_of(change)
        if source.count(change.old) != 1:
            raise LookupError(f"{change.module} does not have this once: {change.old}")
        sources[change.module] = source.replace(change.old, change.new)
    return sources


def broken_tree(folder: Path, changes: Iterable[Change]) -> Path:
    """A copy of the product with the changes."""
    sources = broken_sources(changes)
    shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*NOT_COPIED))
    for module, source in sources.items():
        (folder / Path(*module.split("."))).with_suffix(".py").write_text(source)
    return folder


def _of(defect: Defect, red: Iterable[Finding]) -> Iterator[Finding]:
    return (each for each in red if each.name.startswith(defect.figure))


def _others(defects: Iterable[Defect], red: Iterable[Finding]) -> list[str]:
    own = tuple(defect.figure for defect in defects)
    return [each.name for each in red if not each.name.startswith(own)]

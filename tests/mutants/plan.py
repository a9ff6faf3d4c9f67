"""Which mutants are made, and which tests could notice each."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import pytest
from coverage import CoverageData

from tests.mutants.mutants import ROOT, Mutant

FOLDER: Final = ROOT / "build" / "mutants"
COVERAGE: Final = FOLDER / "coverage"
PLAN: Final = FOLDER / "plan.json"
FOUND: Final = FOLDER / "unnoticed.txt"  # path, function and change of each, with tabs between
CACHE: Final = FOLDER / "cache"
SECONDS: Final = FOLDER / "seconds.json"  # how long each test took
LAST_FAILED: Final = CACHE / "v" / "cache" / "lastfailed"  # without a change: these can notice nothing

# The tests that were collected, by their names.
TESTS: Final[pytest.StashKey[dict[str, pytest.Item]]] = pytest.StashKey()

MOST: Final = 300  # tests of a mutant, besides the nearest
FEW: Final = 4  # as many may have run what a process does once and keeps; what was kept concerns others, too

FARTHER: Final = 0.03  # seconds that a test may be quicker by, for each folder that it is farther away

# What is changed, and the tests that may notice it, the nearest first.
TARGETS: Final = {
    "installations": "installations appapi merchants developers developers/api/releases webhooks webhooks/engine accounts activity/test_log.py test_same_rules.py",
    "extensions/in_store/capabilities.py": "extensions merchants",
    "extensions/hooks": "extensions stores storefront merchants developers appapi sdk streams installations developers/api/releases developers/docs/test_openapi.py config/test_watched.py",
    "webhooks/services/erasure.py": "webhooks merchants developers/portal activity config/test_service_levels.py",
    "stores/services/payments.py": "stores storefront appapi merchants extensions/hooks config/test_waiting_for_strangers.py",
    "marketplace/services": "marketplace developers developers/api/releases merchants accounts wire",
    "merchants/consent": "merchants installations wire accounts",
}


def files(paths: Iterable[str]) -> dict[str, list[str]]:
    """The files of these paths, each with the folders of its tests. Raises LookupError for a path that is no target."""
    found = {}
    for path in paths:
        (target,) = [each for each in TARGETS if Path(path).is_relative_to(each)] or [""]
        if not target:
            raise LookupError(f"{path} is in no target: {', '.join(TARGETS)}.")
        at = ROOT / path
        for file in sorted(at.rglob("*.py")) if at.is_dir() else [at]:
            if "migrations" not in file.parts:
                found[str(file.relative_to(ROOT))] = [f"tests/{name}" for name in TARGETS[target].split()]
    return found


def write(mutants: Iterable[Mutant], folders: Mapping[str, list[str]]) -> list[str]:
    """Write the plan by what the tests have run. Returns the tests that it needs."""
    data = CoverageData(str(COVERAGE))
    data.read()
    failed = set(json.loads(LAST_FAILED.read_text())) if LAST_FAILED.exists() else set()
    by_line = {path: _tests_by_line(data, path) for path in folders}
    seconds = json.loads(SECONDS.read_text())
    ranks = {path: ranks_of(by_line[path], folders[path], seconds) for path in folders}
    rows, needed = [], set()
    for mutant in mutants:
        found = set().union(*(by_line[mutant.path][line] for line in mutant.lines)) - failed
        first, last = mutant.body
        own = {line: by_line[mutant.path][line] for line in range(first, last + 1)}
        tests = chosen(
            found,
            own,
            {test: rank for test, rank in ranks[mutant.path].items() if test not in failed},
            nearest=nearest(folders[mutant.path]),
        )
        rows.append((asdict(mutant), tests))
        needed.update(tests)
    PLAN.write_text(json.dumps(rows))
    FOUND.write_text("")
    return sorted(needed)


def planned() -> list[tuple[Mutant, list[str]]]:
    return [(Mutant(**mutant), tests) for mutant, tests in json.loads(PLAN.read_text())]


def _tests_by_line(data: CoverageData, path: str) -> defaultdict[int, set[str]]:
    found = defaultdict(set)
    for line, contexts in data.contexts_by_lineno(str(ROOT / path)).items():
        found[line] = {context.rpartition("|")[0] for context in contexts} - {""}
    return found


def ranks_of(
    by_line: Mapping[int, set[str]], folders: Sequence[str], seconds: Mapping[str, float]
) -> dict[str, tuple[float, str]]:
    """What to sort the tests of a file by: the quickest first, and of those that are as quick the nearest."""
    tests = set[str]().union(*by_line.values())
    return {test: (seconds.get(test, 1.0) + FARTHER * _distance(test, folders), test) for test in tests}


def chosen(
    found: Iterable[str],
    by_line: Mapping[int, set[str]],
    ranks: Mapping[str, tuple[float, str]],
    *,
    nearest: tuple[str, ...],
) -> list[str]:
    """The tests to try, in this order: `MOST` of those found, and the others in `nearest`. Where few are found, all of the file."""
    tests = by_turns(sorted(found, key=ranks.__getitem__), by_line)
    if len(tests) <= FEW:
        tests += sorted(ranks.keys() - set(tests), key=ranks.__getitem__)
    first, others = tests[:MOST], tests[MOST:]
    return sorted(first, key=ranks.__getitem__) + [test for test in others if test.startswith(nearest)]


def nearest(folders: Sequence[str]) -> tuple[str, ...]:
    """The first folder, and what is named inside of one or as a file."""
    return folders[0], *(each for each in folders if each.count("/") > 1 or each.endswith(".py"))


def by_turns(tests: Iterable[str], by_line: Mapping[int, set[str]]) -> list[str]:
    """The first of those that run the same of these lines, then the second, and so on: an early end of a function has its test among them."""
    alike: Counter[tuple[int, ...]] = Counter()
    turns: defaultdict[int, list[str]] = defaultdict(list)
    for test in tests:
        same = tuple(line for line in sorted(by_line) if test in by_line[line])
        turns[alike[same]].append(test)
        alike[same] += 1
    return [test for turn in sorted(turns) for test in turns[turn]]


def _distance(test: str, folders: Sequence[str]) -> int:
    return min(at for at, folder in enumerate([*folders, "tests"]) if test.startswith(folder))

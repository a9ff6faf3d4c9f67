"""Which mutants a file has, and how one runs in place of the file."""

from pathlib import Path
from types import ModuleType

import pytest

from tests.changed_source import functions_of
from tests.mutants import mutants
from tests.mutants.mutants import listed, mutants_of
from tests.mutants.plan import MOST, TARGETS, by_turns, chosen, files, nearest, ranks_of

SOURCE = """
from contextlib import contextmanager
from functools import cached_property

LIMIT = 3

def usual(now=None, limit=3):
    moment: datetime | None = now or timezone.now()
    return moment

class Store:
    least = 1

    @property
    def is_open(self):
        return self.least == 1

    @cached_property
    def is_new(self):
        return self.least == 1

    @classmethod
    def made(cls):
        return cls().least == 1

    @contextmanager
    def held(self):
        yield self.least == 1
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(mutants, "ROOT", tmp_path)
    (tmp_path / "store.py").write_text(SOURCE)
    return "store.py"


def test_only_what_runs_again_is_changed_and_no_default_moment(file: str) -> None:
    found = {(each.function, each.change) for each in mutants_of(file)}
    moment = "moment: datetime | None ="
    assert ("usual", f"{moment} now or timezone.now() → {moment} now") in found
    assert ("usual", f"{moment} now or timezone.now() → {moment} timezone.now()") not in found
    assert not any(change.endswith("moment: None = now or timezone.now()") for _, change in found)
    assert {function for function, _ in found} == {
        "usual",
        *(f"Store.{name}" for name in ("is_open", "is_new", "made", "held")),
    }


@pytest.mark.parametrize("name", ["is_open", "is_new", "made", "held"])
def test_function_runs_as_it_is_changed_and_then_as_it_was(file: str, name: str) -> None:
    module = ModuleType("store")
    exec(SOURCE, vars(module))  # noqa: S102
    (mutant,) = [
        each for each in mutants_of(file) if each.function == f"Store.{name}" and "!=" in each.change
    ]

    def value() -> bool:
        found = getattr(module.Store(), name)
        if name == "held":
            with found() as held:
                return bool(held)
        return bool(found() if callable(found) else found)

    assert value()
    with functions_of(mutant.changed(SOURCE), source=SOURCE, module=module):
        assert not value()
    assert value()


def test_quick_tests_come_first_and_of_equally_quick_ones_the_nearest() -> None:
    by_line = {1: {"tests/shops/a", "tests/stores/slow"}, 2: {"tests/stores/near"}}
    seconds = {"tests/shops/a": 0.2, "tests/stores/slow": 3.0, "tests/stores/near": 0.2}
    ranks = ranks_of(by_line, ["tests/stores"], seconds)
    assert sorted(ranks, key=ranks.__getitem__) == ["tests/stores/near", "tests/shops/a", "tests/stores/slow"]


def test_tests_take_turns_by_what_they_run_of_a_function() -> None:
    """`ends` is the only one that leaves the function at its first line."""
    by_line = {8: {"all", "other", "ends"}, 9: {"all", "other"}}
    assert by_turns(["all", "other", "ends"], by_line) == ["all", "ends", "other"]


def test_what_few_tests_ran_is_tried_by_all_of_the_file() -> None:
    """A process may do once and keep what all of them use."""
    ranks = {test: (0.1, test) for test in "fedcba"}
    assert chosen({"e"}, {8: {"e"}}, ranks, nearest=()) == ["a", "b", "c", "d", "e", "f"]
    assert chosen(set("fedcb"), {8: set(ranks)}, ranks, nearest=()) == ["b", "c", "d", "e", "f"]


def test_what_no_quick_test_notices_is_tried_by_all_of_the_nearest_folder() -> None:
    quick = {f"tests/far/{number:03}": 0.1 for number in range(MOST + 1)}
    ranks = {test: (seconds, test) for test, seconds in (quick | {"tests/near/slow": 9.0}).items()}
    tried = chosen(ranks, {8: set(ranks)}, ranks, nearest=nearest(["tests/near", "tests/far"]))
    assert tried == [*sorted(quick)[:MOST], "tests/near/slow"]


def test_targets_and_listed_mutants_are_of_files_that_exist() -> None:
    there = files(TARGETS)
    assert {path for path, *_ in listed()} <= there.keys()
    assert all(Path(folder).exists() for folders in there.values() for folder in folders)

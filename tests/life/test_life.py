"""Lives of an app that Hypothesis makes up, and lives that show a missing protection (docs/faults.md, "Lives of an app")."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import signature
from typing import Any

import pytest
import time_machine
from hypothesis import HealthCheck, Phase
from hypothesis import settings as how
from hypothesis.stateful import run_state_machine_as_test

from common.db.compiled import Compiled
from tests.faults.protections import taken_out
from tests.life.machine import FIRST, Lives
from tests.life.world import BEGIN, World
from tests.receivers import Receiver

P = frozenset({"read_products"})
R, G = P | {"read_reviews"}, P | {"read_reviews", "read_pages"}
Step = tuple[Any, ...]  # a rule, and its values
# The protections of an app's state in stores, each with a life that shows that it is missing.
SHOWN: dict[str, list[Step]] = {
    "scope of a call": [("version_with_scopes", P, False)],
    "pause of an app": [("pause", "mira")],
    "pause in a store": [("pause", "mira")],
    "suspension of an app": [("suspend",)],
    "lock of a suspended app's manifest": [("suspend",), ("save", "", "one")],
    "approved reach": [("save", "b", "one")],
    "agreed reach": [("version_with_parts", "b", "one", False)],
    "pin of an approved script": [("version_with_parts", "a pinned", "one", False), ("save", "a", "one")],
    "consent before a scope": [("version_with_scopes", G, False)],
    "consent to a scope that comes back": [("version_with_scopes", P, False), ("version_with_scopes", R, False)],
    "version of an answer": [
        ("version_with_scopes", G, False), ("open_question", "mira"), ("version_with_parts", "b", "one", False),
        ("answer", "mira", True),
    ],
    "stores of a step": [("version_with_scopes", P, True)],
    "agreement before a taken-back version": [
        ("version_with_parts", "b", "one", False), ("answer", "mira", True), ("move_release", "back"),
    ],
    "scopes that a taken-back version took": [("version_with_scopes", P, False), ("move_release", "back")],
    "saves before a version was taken back": [
        ("version_with_parts", "a", "two", False), ("move_release", "back"),
    ],
    "switches of a store": [("switch", "mira", "script")],
    "judgement at each attempt": [("happens", "mira", "review.created", False), ("version_with_scopes", P, False)],
    "sending after a resume": [("pause", "mira"), ("happens", "mira", "review.created", True), ("pause", "mira")],
    "nothing kept for a suspended app": [
        ("pause", "mira"), ("happens", "mira", "review.created", True), ("suspend",), ("suspend",), ("pause", "mira"),
    ],
    "erasure after the end": [("uninstall", "mira", False), ("two_days_pass",)],
    "48 hours before an erasure": [("uninstall", "mira", False)],
    "end of an erasure with a reinstall": [
        ("uninstall", "mira", True), ("install", "mira", None), ("uninstall", "mira", False), ("two_days_pass",),
    ],
    "code that works once": [("consent", "mira", None), ("exchange", 0), ("exchange", 0)],
    "token of a code that came twice": [("consent", "mira", None), ("exchange", 0), ("exchange", 0)],
    "role at the exchange": [("consent", "kim", None), ("kim_leaves",), ("exchange", 0)],
    "code after an uninstall": [
        ("uninstall", "mira", False), ("consent", "mira", None), ("install", "mira", None), ("uninstall", "mira", False),
        ("exchange", 0),
    ],
    "newest of several consents": [
        ("uninstall", "mira", False), ("consent", "mira", None), ("consent", "mira", P), ("exchange", 1), ("exchange", 0),
    ],
    "role on an app": [("sam_becomes", "VIEWER"), ("test_install",)],
    "owner of an app": [("sam_becomes", "")],
    "test install of who leaves": [("sam_becomes", "")],
}  # fmt: skip
SECONDS = 60  # of this process, until it is noticed
SHRINKING = 5
MOST_STEPS = 12


@pytest.fixture
def world(
    db: None, settings: Any, tasks_run_at_once: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    settings.DEBUG = True  # plain http is allowed
    monkeypatch.setattr("hypothesis.internal.conjecture.engine.MAX_SHRINKING_SECONDS", SHRINKING)
    with Receiver() as receiver, time_machine.travel(BEGIN, tick=False) as clock:
        Lives.world = World(receiver, clock)
        Lives.world.make_app(*FIRST)
        yield


def live(sequences: int, *, steps: int, again: bool = False) -> None:
    """`again`: the same lives as the last time."""
    run_state_machine_as_test(
        Lives,
        settings=how(
            max_examples=sequences,
            stateful_step_count=steps,
            derandomize=again,
            database=None,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
            report_multiple_bugs=False,
        ),
    )


@pytest.mark.long
def test_lives_are_what_the_contract_says(world: None) -> None:
    """`python -m tests.life --sequences` has others each time."""
    sequences = os.environ.get("LIFE_SEQUENCES")
    live(int(sequences or 4), steps=int(os.environ.get("LIFE_STEPS", 12)), again=sequences is None)


@contextmanager
def _queries_made_again() -> Iterator[None]:
    """Those whose SQL is kept, so that they are made without the protection, and afterwards with it."""
    made: set[Compiled[Any]] = set()
    kept_text = Compiled._text  # noqa: SLF001

    def text(self: Compiled[Any], connection: Any) -> Any:
        if self not in made:
            self._texts.clear()
        made.add(self)
        return kept_text(self, connection)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Compiled, "_text", text)
        yield
    for each in made:
        each._texts.clear()  # noqa: SLF001


def _is_noticed(steps: list[Step]) -> bool:
    lives, codes = Lives(), []
    try:
        for name, *values in steps:
            if name == "exchange":
                values = [codes[values[0]]]
            made = getattr(lives, name)(**dict(zip(_names_of(name), values, strict=True)))
            codes += [made] if name == "consent" else []
        lives.teardown()
    except AssertionError:
        lives.teardown()
        return True
    return False


def _names_of(rule: str) -> list[str]:
    return list(signature(getattr(Lives, rule)).parameters)[1:]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_lives_notice_what_is_missing(world: None) -> None:
    """Each of these lives is as it should be, and isn't without its protection."""
    assert [name for name, steps in SHOWN.items() if _is_noticed(steps)] == []
    missed = []
    for name, steps in SHOWN.items():
        with _queries_made_again(), taken_out(name):
            missed += [] if _is_noticed(steps) else [name]
    assert missed == []

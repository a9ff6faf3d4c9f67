"""Lives of an app that nobody thought of, and the proof that they notice something (docs/faults.md, "Lives of an app")."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from time import process_time
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

# What concerns the state of an app in stores, and can be seen by those who live with it.
STATE = (
    "scope of a call", "pause of an app", "approved reach", "pin of an approved script", "erasure after the end",
    "judgement at each attempt", "lock of a suspended app's manifest", "role on an app", "owner of an app",
    "role at the exchange", "code that works once",
    "suspension of an app", "pause in a store", "sending after a resume", "nothing kept for a suspended app",
    "48 hours before an erasure", "end of an erasure with a reinstall", "consent before a scope",
    "consent to a scope that comes back", "agreed reach", "version of an answer", "stores of a step", "halt of a release",
    "agreement before a taken-back version", "scopes that a taken-back version took",
    "saves before a version was taken back", "switches of a store", "test install of who leaves",
    "code after an uninstall", "token of a code that came twice", "newest of several consents",
)  # fmt: skip

SECONDS = 60  # of this process, until it is noticed
SHRINKING = 30  # seconds on the clock, at most
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
        Lives.violations = []
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


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", STATE)
def test_lives_notice_what_is_missing(world: None, name: str) -> None:
    began = process_time()
    with _queries_made_again(), taken_out(name):
        while not Lives.violations and process_time() < began + SECONDS:
            try:
                live(20, steps=MOST_STEPS)
            except AssertionError:
                print(f"{name}: {Lives.violations[0] - began:.0f} s, {Lives.steps} steps")
    assert Lives.violations
    assert Lives.violations[0] < began + SECONDS
    assert Lives.steps <= MOST_STEPS

"""Lives of an app that Hypothesis makes up, and lives that show a missing protection (docs/faults.md, "Lives of an app")."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import time_machine

from common.db.compiled import Compiled
from tests.faults.protections import taken_out
from tests.life.choices import LONGEST, Step
from tests.life.looks import FIRST
from tests.life.machine import Lives
from tests.life.search import Search, played, shrunk
from tests.life.short import ACTIONS, G, P
from tests.life.world import BEGIN, World
from tests.receivers import Receiver

R = P | {"read_reviews"}
QUICK = 3  # lives of each search
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
    "judgment at each attempt": [
        ("workers_leave",), ("happens", "mira", "review.created"), ("version_with_scopes", P, False),
    ],
    "sending after a resume": [("pause", "mira"), ("happens", "mira", "review.created"), ("pause", "mira")],
    "nothing kept for a suspended app": [
        ("pause", "mira"), ("happens", "mira", "review.created"), ("suspend",), ("suspend",), ("pause", "mira"),
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
        ("exchange", 1),
    ],
    "newest of several consents": [
        ("uninstall", "mira", False), ("consent", "mira", None), ("consent", "mira", P), ("exchange", 0), ("exchange", 1),
    ],
    "role on an app": [("sam_becomes", "VIEWER"), ("test_install",)],
    "owner of an app": [("sam_becomes", "")],
    "test install of who leaves": [("sam_becomes", "")],
}  # fmt: skip
WITHIN, STEPS = 60, 12  # lives of a search without a protection, and steps of what it finds
# Of short lives about one part; less than a minute of each, on 2 cores.
SHORT = 200
# What long lives find too rarely: three to five steps in a row, before a code or a page is too old, or what happens once in a life.
# Short lives of one part find it.
RARE = {
    "pin of an approved script": "parts", "saves before a version was taken back": "parts",
    "agreement before a taken-back version": "parts", "version of an answer": "questions",
    "scopes that a taken-back version took": "scopes", "judgment at each attempt": "sending",
    "nothing kept for a suspended app": "pauses", "sending after a resume": "pauses", "role at the exchange": "staff",
    "code after an uninstall": "codes", "newest of several consents": "consents",
}  # fmt: skip


@pytest.fixture
def world(db: None, settings: Any, tasks_run_at_once: None) -> Iterator[None]:
    settings.DEBUG = True  # plain http is allowed
    with Receiver() as receiver, time_machine.travel(BEGIN, tick=False) as clock:
        Lives.world = World(receiver, clock)
        Lives.world.make_app(*FIRST)
        yield


@pytest.mark.search
@pytest.mark.long
@pytest.mark.parametrize("share", [1, 2])  # for two processes
def test_lives_are_what_the_contract_says(share: int, world: None, request: pytest.FixtureRequest) -> None:
    lives, seed = request.config.getoption("lives"), 2 * request.config.getoption("seed") - share
    found = Search().first_broken((lives + 1) // 2 or QUICK, first=seed, length=LONGEST if lives else 12)
    if found:
        pytest.fail(str(shrunk(found)), pytrace=False)


@pytest.mark.search
@pytest.mark.long
@pytest.mark.parametrize("about", ACTIONS)
def test_short_lives_are_what_the_contract_says(
    about: str, world: None, request: pytest.FixtureRequest
) -> None:
    most = SHORT if request.config.getoption("lives") else QUICK * len(ACTIONS[about])
    if found := Search().first_short(about, most):
        pytest.fail(str(shrunk(found)), pytrace=False)


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
@pytest.mark.search
@pytest.mark.timeout(900)
def test_lives_notice_what_is_missing(world: None) -> None:
    """Each of these lives is as it should be, and isn't without its protection."""
    assert [(name, found.differs) for name, steps in SHOWN.items() if (found := played(steps))] == []
    missed = []
    for name, steps in SHOWN.items():
        with _queries_made_again(), taken_out(name):
            missed += [] if played(steps) else [name]
    assert missed == []


@pytest.mark.slow
@pytest.mark.search
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SHOWN)
def test_search_finds_what_a_protection_keeps_from_happening(
    name: str, world: None, request: pytest.FixtureRequest
) -> None:
    search, option = Search(), request.config.getoption
    with _queries_made_again(), taken_out(name):
        if name in RARE:
            found = search.first_short(RARE[name], SHORT)
        else:
            found = search.first_broken(option("lives") or WITHIN, first=option("seed"))
        print(f"{search.lives} lives, {search.seconds:.1f} s, of this process {search.of_processor:.1f} s")
        assert found
        least = shrunk(found)
    print(least)
    assert len(least.steps) <= STEPS

"""The engine keeps its rules under every schedule that the budget allows, and without a protection it does not."""
# ruff: noqa: SLF001  # the texts of two statements

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import islice
from typing import Final
from unittest.mock import patch

import pytest

from tests.explored import search
from tests.explored.explorer import Explorer
from tests.explored.runs import Explored
from tests.explored.schedules import SCENES, Schedule
from tests.faults.protections import PROTECTIONS, taken_out
from webhooks.engine import claims, recording

pytestmark = pytest.mark.postgres

QUICK: Final = 50  # schedules of each search
# What a search without a protection has, and steps of what it finds: less than a minute of a processor, on any machine.
WITHIN, STEPS = 1000, 12

# They broke a rule once.
MENDED: Final = (
    # A delivery that was claimed long after the heartbeat was sent without a look whether others had freed it.
    "two endpoints; A records 1: stops for 3 s; A prepares 2: stops for 2 s",
    # A claim that was lost kept its lease, because an earlier claim of the same delivery was in flight.
    "one endpoint; host-1 answers 1: nothing within 10 s; A beats 2: the app is paused and resumed; A prepares 2: loses its session after",
    # After a failure of the database, a dispatcher without anything in flight held its leases beyond its death.
    "one endpoint; A prepares 1: loses its session before; A beats 2: stops for 2 s; A frees 1: dies before",
)
# Protections of the engine that no schedule can show.
UNSEEN: Final = {"listeners of a developer": "a limit for people, who come through the developer API"}
SEEN: Final = (
    *(
        name
        for name, change in PROTECTIONS.items()
        if change.module.startswith("webhooks.engine.") and name not in UNSEEN
    ),
    "outbox",
)


def report(outcome: Explored) -> str:
    return "\n".join(
        [
            f"Broken after {outcome.ended:.2f} s: {outcome.broken}",
            *outcome.steps(),
            f"To repeat: make explore ARGS='--schedule \"{outcome.schedule}\"'",
        ]
    )


def require_none(explorer: Explorer, outcomes: Iterator[Explored]) -> None:
    found = search.first_broken(outcomes)
    if found:
        pytest.fail(report(search.shrunk(explorer, found)), pytrace=False)


@pytest.mark.long
@pytest.mark.search
def test_no_schedule_of_few_unusual_things_breaks_a_rule(
    explorer: Explorer, request: pytest.FixtureRequest
) -> None:
    bound = request.config.getoption("bound")
    most = request.config.getoption("schedules") or QUICK
    require_none(explorer, islice(search.depth_first(explorer, bound), most))


@pytest.mark.long
@pytest.mark.search
@pytest.mark.parametrize("share", [1, 2])  # for two processes
def test_no_schedule_made_at_random_breaks_a_rule(
    share: int, explorer: Explorer, request: pytest.FixtureRequest
) -> None:
    seed = 2 * request.config.getoption("seed") - share
    most = request.config.getoption("schedules") or QUICK
    require_none(explorer, islice(search.at_random(explorer, seed), most // 2))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "known" in metafunc.fixturenames:
        given = metafunc.config.getoption("schedule")
        metafunc.parametrize("known", [given] if given else MENDED)


@pytest.mark.search
def test_schedule_that_broke_a_rule_breaks_none_any_more(explorer: Explorer, known: str) -> None:
    outcome = explorer.run(Schedule.parse(known))
    print(*outcome.steps(), sep="\n")
    assert not outcome.broken, report(outcome)


@pytest.mark.long
def test_schedule_runs_the_same_way_again(explorer: Explorer) -> None:
    seen = list(islice(search.at_random(explorer, 3), 8))
    again = [explorer.run(Schedule.parse(str(each.schedule))) for each in seen]
    assert [each.steps() for each in again] == [each.steps() for each in seen]
    assert any(each.schedule.deviations for each in seen)


def test_schedule_of_another_scene_is_refused() -> None:
    with pytest.raises(ValueError, match=SCENES[0]):
        Schedule.parse("two stores; A claims 1: dies after")


@contextmanager
def without(name: str) -> Iterator[None]:
    """Without the protection: in the statements that sessions are yet to prepare, or else in a function."""
    change = PROTECTIONS[name]
    statements = claims._CLAIM, recording._RECORD
    in_statements = any(change.old in each._prepare for each in statements)
    with ExitStack() as stack:
        for (
            each
        ) in statements:  # the change of one protection sets the text itself, so each is put back in any case
            stack.enter_context(patch.object(each, "_prepare", each._prepare.replace(change.old, change.new)))
        if not in_statements:
            stack.enter_context(taken_out(name))
        yield


@pytest.mark.slow
@pytest.mark.search
@pytest.mark.parametrize("name", SEEN)
def test_search_finds_what_a_protection_keeps_from_happening(name: str, explorer: Explorer) -> None:
    with without(name):
        searches = search.by_turns(search.depth_first(explorer, 1), search.at_random(explorer, 1))
        found = search.first_broken(islice(searches, WITHIN))
        assert found
        found = search.shrunk(explorer, found)
    print(f"{name}, after {explorer.ran} schedules:", report(found), sep="\n")
    assert found.broken
    assert len(found.steps()) <= STEPS

"""The search: depth first up to a bound of deviations, then at random by a seed. A schedule that it finds is shrunk."""

from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from random import Random
from typing import Final

from tests.explored.explorer import Explorer
from tests.explored.runs import Explored
from tests.explored.schedules import SCENES, Deviation, Schedule, options

UNUSUAL: Final = 0.2  # the share of points of a random run where something happens
MOST_UNUSUAL: Final = 4


def depth_first(explorer: Explorer, bound: int) -> Iterator[Explored]:
    """Every schedule with up to so many deviations, of each scene by turns. Each begins with the points that a shorter one has shown."""
    return by_turns(*(_below(explorer, Schedule(scene), bound) for scene in SCENES))


def _below(explorer: Explorer, schedule: Schedule, bound: int) -> Iterator[Explored]:
    outcome = explorer.run(schedule)
    yield outcome
    if bound == len(schedule.deviations):
        return
    done = outcome.points.index(schedule.deviations[-1].point) + 1 if schedule.deviations else 0
    # Of each point the first option, then of each the second.
    rounds = zip_longest(
        *([Deviation(point, what) for what in options(point)] for point in outcome.points[done:])
    )
    for deviation in filter(None, chain.from_iterable(rounds)):
        yield from _below(explorer, schedule.plus(deviation), bound)


def at_random(explorer: Explorer, seed: int) -> Iterator[Explored]:
    """Schedules without end, the same ones for the same seed."""
    chance = Random(seed)
    while True:
        left = chance.randint(1, MOST_UNUSUAL)

        def choose(point: str) -> str | None:
            nonlocal left
            if not left or chance.random() >= UNUSUAL:
                return None
            left -= 1
            return chance.choice(options(point))

        yield explorer.run(Schedule(chance.choice(SCENES)), choose)


def by_turns(*searches: Iterator[Explored]) -> Iterator[Explored]:
    """One outcome of each search after the other, as long as any goes on."""
    for outcomes in zip_longest(*searches):
        yield from filter(None, outcomes)


def first_broken(outcomes: Iterable[Explored]) -> Explored | None:
    return next((outcome for outcome in outcomes if outcome.broken), None)


def shrunk(explorer: Explorer, found: Explored) -> Explored:
    """The same rule broken with as few deviations as possible, in the plainest scene."""
    smaller = True
    while smaller:
        smaller = False
        for schedule in found.schedule.smaller():
            outcome = explorer.run(schedule)
            if outcome.broken == found.broken:
                found, smaller = outcome, True
                break
    return found

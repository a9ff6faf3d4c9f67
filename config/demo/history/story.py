"""When what happened in the month behind a demo, for the parts that have to agree about it."""

import random
from collections.abc import Iterator
from datetime import datetime, time, timedelta
from typing import Final, NamedTuple

SEED: Final = 2718
DAYS: Final = 30
INSTALLED: Final = timedelta(days=29, hours=6)  # when the bakery installed the sample app
LUNCH_RUSH: Final = 9  # orders within the bad hour


class Period(NamedTuple):
    begin: datetime
    end: datetime

    def __contains__(self, moment: object) -> bool:
        return isinstance(moment, datetime) and self.begin <= moment < self.end


def bad_hour(now: datetime) -> Period:
    """In which the sample app hardly answered: four days ago, at lunch."""
    begin = _at(now, days=4, hour=12)
    return Period(begin, begin + timedelta(hours=1))


def broken(now: datetime) -> Period:
    """In which its endpoint answered 500, until a release fixed it."""
    return Period(_at(now, days=5, hour=7), releases(now)[1])


def releases(now: datetime) -> tuple[datetime, datetime]:
    """When the two versions of the sample app were approved."""
    return _at(now, days=41, hour=10), _at(now, days=5, hour=15)


def order_times(now: datetime) -> list[datetime]:
    """When the bakery's orders of the month came: more of them on Fridays and Saturdays, most of them in the morning."""
    chance = random.Random(SEED)  # noqa: S311  nothing here is secret
    rush = bad_hour(now)
    made = [rush.begin + timedelta(minutes=6 * number + chance.random() * 5) for number in range(LUNCH_RUSH)]
    return sorted([*made, *_daily(now, chance)])


def _daily(now: datetime, chance: random.Random) -> Iterator[datetime]:
    for days in range(DAYS - 1, 0, -1):
        morning = _at(now, days=days, hour=6)
        busy = 4 if morning.weekday() in (4, 5) else 0
        for _ in range(chance.randint(5, 9) + busy):
            moment = morning + timedelta(hours=min(chance.expovariate(1 / 4), 13) + chance.random())
            if moment < now - timedelta(days=1):  # of the last day there are orders already
                yield moment


def _at(now: datetime, *, days: int, hour: int) -> datetime:
    return datetime.combine((now - timedelta(days=days)).date(), time(hour), now.tzinfo)

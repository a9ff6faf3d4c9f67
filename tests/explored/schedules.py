"""A schedule: what happens at which point of a run, where all else goes on as usual. It is text, so that a found one can be repeated."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Self

PLAIN: Final = "one endpoint"
SCENES: Final = (PLAIN, "two endpoints", "six hosts", "a queue")

# At a statement of a dispatcher. In a transaction of several, "before" means before the first, and "after" after the commit.
DIES_BEFORE, DIES_AFTER = "dies before", "dies after"
CUT_BEFORE, CUT_AFTER = "loses its session before", "loses its session after"
HOLDS = "waits before the commit"
IS_ASKED = "is asked to stop"
STOPS: Final = {f"stops for {seconds} s": seconds for seconds in (0.1, 2, 3, 6, 70)}
IS_RUNG = "gets a hint"
OF_A_DISPATCHER: Final = (DIES_BEFORE, DIES_AFTER, CUT_BEFORE, CUT_AFTER, IS_ASKED, IS_RUNG, *STOPS)
# What others do at such a moment, each in one transaction, before the statement.
PUBLISHED, ROLLED_BACK = "an event is published", "an event is rolled back"
UNHEARD = "an event is published, and no hint arrives"
DELETED, DISABLED = "the webhook is deleted", "the webhook is disabled"
PAUSED, RESUMED = "the app is paused", "the app is paused and resumed"
UNINSTALLED = "the app is uninstalled"
OF_PEOPLE: Final = (PUBLISHED, UNHEARD, ROLLED_BACK, DELETED, DISABLED, PAUSED, RESUMED, UNINSTALLED)
NO_NETWORK, NO_DATABASE = "the network is cut for 20 s", "PostgreSQL is away for 4 s"
FULL_DISKS: Final = {f"PostgreSQL has a full disk for {seconds} s": seconds for seconds in (4, 64)}
OF_MACHINES: Final = (NO_NETWORK, NO_DATABASE, *FULL_DISKS)
READS: Final = ("looks", "prepares")  # which have nothing to commit
AT_A_STATEMENT: Final = (HOLDS, *OF_MACHINES, *OF_PEOPLE, *OF_A_DISPATCHER)

# When a dispatcher starts.
CLOCKS: Final = {"its clock is 10 minutes ahead": 600, "its clock is 10 minutes behind": -600}


class Reply(NamedTuple):
    """What an endpoint answers. Without a status it doesn't."""

    status: int | None
    error: str | None
    after: float  # seconds


USUAL: Final = Reply(200, None, 0.05)
ANSWERS: Final = {
    "nothing within 10 s": Reply(None, "timeout_response", 10.0),
    "500": Reply(500, "http_5xx", 0.05),
    "410": Reply(410, "http_4xx", 0.05),
    "200 after 9 s": Reply(200, None, 9.0),
    "500 after 9 s": Reply(500, "http_5xx", 9.0),
    "no connection": Reply(None, "refused", 0.05),
}


class Deviation(NamedTuple):
    """At this point, this happens."""

    point: str  # "A claims 1" is the first claim of dispatcher A, "host-1 answers 2" the second request there
    what: str

    def __str__(self) -> str:
        return f"{self.point}: {self.what}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """The scene that it begins with, and what is unusual. A point without a deviation goes on as usual."""

    scene: str = PLAIN
    deviations: tuple[Deviation, ...] = ()

    def __str__(self) -> str:
        return "; ".join([self.scene, *map(str, self.deviations)])

    @classmethod
    def parse(cls, text: str) -> Self:
        scene, *deviations = (part.strip() for part in text.split(";"))
        if scene not in SCENES:
            raise ValueError(f"Begin with one of these: {', '.join(SCENES)}.")
        return cls(scene, tuple(Deviation(*each.split(": ", 1)) for each in deviations))

    def at(self, point: str) -> str | None:
        return next((each.what for each in self.deviations if each.point == point), None)

    def plus(self, deviation: Deviation) -> Self:
        return type(self)(self.scene, (*self.deviations, deviation))

    def smaller(self) -> Iterator[Self]:
        """Schedules to try instead of one that breaks a rule: plainer, shorter, or earlier."""
        for deviation in self.deviations:
            yield replace(self, deviations=tuple(each for each in self.deviations if each != deviation))
        if self.scene != PLAIN:
            yield replace(self, scene=PLAIN)
        for deviation in self.deviations:
            who, verb, number = deviation.point.split(" ")
            for earlier in range(1, int(number)):
                moved = Deviation(f"{who} {verb} {earlier}", deviation.what)
                yield replace(
                    self, deviations=tuple(moved if each == deviation else each for each in self.deviations)
                )


def options(point: str) -> Sequence[str]:
    """What may happen at a point other than the usual."""
    _, verb, _ = point.split(" ")
    if verb == "answers":
        return tuple(ANSWERS)
    if verb == "starts":
        return tuple(CLOCKS)
    return tuple(each for each in AT_A_STATEMENT if each != HOLDS or verb not in READS)

"""Makes up lives until one isn't what the model says, and leaves out of that one what doesn't matter."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from time import perf_counter, process_time
from typing import Self

from hypothesis import HealthCheck, Phase, seed
from hypothesis import settings as how
from hypothesis.stateful import run_state_machine_as_test

from tests.life.choices import LONGEST, Step
from tests.life.looks import STORES
from tests.life.machine import Lives
from tests.life.short import OPENING, Short

AT_ONCE = 9  # lives; with more, Hypothesis makes most of them as variations of another


@dataclass(frozen=True, slots=True)
class Broken:
    """`steps` of a life in which something `differs`."""

    home: str
    hurries: bool
    steps: Sequence[Step]
    differs: str

    def __str__(self) -> str:
        steps = (f"{number:2}. {name}{values}" for number, (name, *values) in enumerate(self.steps, 1))
        return "\n".join([self.differs, *steps])


class Counted(Lives):
    """Knows how many lives there were, and the last one."""

    count = 0
    last: Self

    def __init__(self) -> None:
        super().__init__()
        Counted.count += 1
        Counted.last = self


@dataclass(slots=True)
class Search:
    """`lives` were lived in `seconds`, of which this process took some for itself."""

    lives: int = 0
    seconds: float = 0.0
    of_processor: float = 0.0

    def first_broken(self, most: int, *, first: int, length: int = LONGEST) -> Broken | None:
        """Each part of the search has a seed of its own, from those that begin with `first`."""
        Counted.count, since, processor = 0, perf_counter(), process_time()
        found = None
        for part in range(0, most, AT_ONCE):
            found = found or _live(min(most - part, AT_ONCE), number=first * 100_000 + part, length=length)
        self.lives = Counted.count
        self.seconds, self.of_processor = perf_counter() - since, process_time() - processor
        return found

    def first_short(self, about: str, most: int) -> Broken | None:
        """Of at most so many short lives about one part, all of one length before the longer ones."""
        since, processor = perf_counter(), process_time()
        found = next(filter(None, islice(self._short(about), most)), None)
        self.seconds, self.of_processor = perf_counter() - since, process_time() - processor
        return found

    def _short(self, about: str) -> Iterator[Broken | None]:
        known, left = set[object](), deque([Short(about, OPENING.get(about, ()))])
        yield self._lived(left[0])
        while left:
            shorter = left.popleft()
            for step in shorter.following:
                life = Short(about, (*shorter.steps, step), shorter.states)
                broken = self._lived(life)
                if not broken and life.leads_on(known):
                    left.append(life)
                yield broken

    def _lived(self, life: Short) -> Broken | None:
        self.lives += 1
        return played(life.steps, home=life.home, hurries=True, last=(life.home,), then=life.learn)


def _live(lives: int, *, number: int, length: int) -> Broken | None:
    try:
        run_state_machine_as_test(
            seed(number)(Counted),
            settings=how(
                max_examples=lives,
                stateful_step_count=length + 1,  # and its beginning
                database=None,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                phases=(Phase.generate,),
                report_multiple_bugs=False,
                print_blob=False,
            ),
        )
    except Exception as error:
        last = Counted.last
        return Broken(last.home, last.hurries, last.steps, _said(error))
    return None


def played(
    steps: Sequence[Step],
    *,
    home: str = "mira",
    hurries: bool = False,
    last: Sequence[str] = STORES,
    then: Callable[[Lives], None] = lambda _: None,
) -> Broken | None:
    """A life of these steps, as far as they may be done, `then` something before its end. None: it is as it should be."""
    lives = Lives()
    lives.home, lives.hurries, lives.last = home, hurries, last
    try:
        try:
            lives.play(steps)
            then(lives)
        finally:
            lives.teardown()
    except Exception as error:
        return Broken(home, hurries, lives.steps, _said(error))
    return None


def shrunk(broken: Broken) -> Broken:
    """Without each run of steps that it can do without; the longer ones first."""
    size = len(broken.steps) // 2
    while size:
        start = len(broken.steps) - size
        while start >= 0:
            left = [*broken.steps[:start], *broken.steps[start + size :]]
            found = played(left, home=broken.home, hurries=broken.hurries)
            if found:
                broken = found
            start -= size if not found else 0
            start = min(start, len(broken.steps) - size)
        size //= 2
    return broken


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"

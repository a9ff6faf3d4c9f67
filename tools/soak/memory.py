"""How the memory of processes changes: medians of minutes, and a line through them.

Each process is measured by itself, from its start to its end, so one that is started again begins from zero. In its first minutes it
loads code and fills caches and pools; these don't count.
"""

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, median
from time import monotonic

from tools.soak.site import Site

EVERY = 5.0  # seconds
WARM_UP = 6  # minutes of a process's life
MINUTES = 8  # after these, of which a line is made; what fewer show is noise
WINDOW = 10  # minutes


@dataclass
class Life:
    """Samples of one process."""

    name: str
    began: float  # of `time.monotonic`
    samples: list[tuple[float, float]] = field(default_factory=list)  # age in seconds, MB

    @property
    def minutes(self) -> list[tuple[int, float]]:
        """The median of each whole minute of its life, in MB."""
        by_minute = defaultdict(list)
        for age, size in self.samples:
            by_minute[int(age // 60)].append(size)
        return [(minute, median(sizes)) for minute, sizes in sorted(by_minute.items())][:-1]

    @property
    def settled(self) -> list[tuple[int, float]]:
        return [each for each in self.minutes if each[0] >= WARM_UP]

    @property
    def slope(self) -> float | None:
        """The growth in ten minutes, as a share, by least squares. None for a life that was too short."""
        if len(self.settled) < MINUTES:
            return None
        middle, size = fmean(x for x, _ in self.settled), fmean(y for _, y in self.settled)
        growth = sum((x - middle) * (y - size) for x, y in self.settled)
        return growth / sum((x - middle) ** 2 for x, _ in self.settled) * WINDOW / size


class Memory:
    """Samples each process of a site until `stop`."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.lives: dict[tuple[int, str], Life] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.wait(EVERY):
            now = monotonic()
            for member in self._site.members:
                if not member.process:
                    continue
                for depth, (pid, started, size) in enumerate(_processes(member.process.pid)):
                    name = member.name if not depth else f"{member.name}, process {depth}"
                    life = self.lives.setdefault((pid, started), Life(name, now))
                    life.samples.append((now - life.began, size))


def _processes(pid: int) -> Iterator[tuple[int, str, float]]:
    """A process and those that it started: id, start, and the MB that are its own, which a leak would add to."""
    with suppress(OSError, StopIteration):
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        size = next(int(line.split()[1]) for line in status if line.startswith("RssAnon:")) / 1024
        yield pid, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19], size
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            yield from _processes(int(child))

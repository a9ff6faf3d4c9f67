"""What a benchmark is given."""

from dataclasses import dataclass
from pathlib import Path

from benchmarks.sink import Sink


@dataclass(frozen=True, slots=True)
class Options:
    """`quick` measures little, to see that all works; `full` takes the sizes of the goals however long it takes."""

    folder: Path
    sink: Sink
    quick: bool
    full: bool

    @property
    def repeats(self) -> int:
        return 1 if self.quick else 3

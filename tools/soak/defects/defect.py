"""What a defect is."""

from dataclasses import dataclass

from tests.faults.protections import Change


@dataclass(frozen=True, slots=True)
class Defect:
    group: str
    figure: str  # the beginning of its name
    changes: tuple[Change, ...]

"""What a check found, line by line."""

from dataclasses import dataclass

from django.db import models


class Outcome(models.TextChoices):
    """From best to worst: of several, the last one counts."""

    PASS = "PASS", "Passed"
    SKIPPED = "SKIPPED", "Not checked"
    WARN = "WARN", "Look at it"
    FAIL = "FAIL", "Failed"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence for the reviewer."""

    outcome: Outcome
    text: str

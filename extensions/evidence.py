"""The findings of a check."""

from dataclasses import dataclass

from django.db import models


class Outcome(models.TextChoices):
    """From best to worst; the worst one of several counts."""

    PASS = "PASS", "Passed"
    SKIPPED = "SKIPPED", "Not checked"
    WARN = "WARN", "Warning"
    FAIL = "FAIL", "Failed"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence for the reviewer, and how good it is. `rule` names what was tried, and `address` explains it."""

    outcome: Outcome
    text: str
    rule: str = ""
    address: str = ""

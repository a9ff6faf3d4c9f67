"""How an approved version reaches the stores that have the app (contract, section 10)."""

from hashlib import sha256
from typing import Final
from uuid import UUID

from django.db import models

from marketplace.enums import ReleaseMode, ReleaseState
from marketplace.models.apps import AppVersion

STEPS: Final = (1, 5, 25, 100)
"""Per cent of the stores. At the last one the release is complete."""


class Release(models.Model):
    """The release of an approved version. Changed only by `marketplace.services.releases`, with the app's row locked.

    While it is open (ROLLING or HALTED), `App.rolling_version` is its version and `App.earlier_version` is `earlier`. A version
    that was approved before there were releases has no row until it is taken back.

    A store belongs to the step if its place is at most `bound`. The bound only grows, so a step only adds stores.
    """

    version = models.OneToOneField(
        AppVersion, on_delete=models.CASCADE, primary_key=True, related_name="release"
    )
    earlier = models.ForeignKey(
        AppVersion,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="The version that ran before; empty for a first approval.",
    )
    mode = models.CharField(max_length=5, choices=ReleaseMode.choices, default=ReleaseMode.ALL)
    state = models.CharField(max_length=10, choices=ReleaseState.choices, default=ReleaseState.COMPLETE)
    percent = models.PositiveSmallIntegerField(default=100)
    bound = models.BigIntegerField(null=True)
    started_at = models.DateTimeField()
    step_at = models.DateTimeField(help_text="When the current step began.")
    watched_from = models.DateTimeField(help_text="Calls from then on decide whether it halts.")
    ended_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=500, blank=True, help_text="Why it was halted or taken back.")
    final_health = models.JSONField(null=True, help_text="As it was when the release ended.")

    class Meta:
        indexes = [
            models.Index(
                fields=["step_at"], condition=models.Q(state=ReleaseState.ROLLING), name="release_rolling"
            )
        ]

    def __str__(self) -> str:
        return f"Release of version {self.version_id}: {self.state}"

    def includes(self, installation: UUID) -> bool:
        """Whether the current step has this installation."""
        return self.bound is not None and place_of(self.version_id, installation) <= self.bound


def place_of(version: UUID, installation: UUID) -> int:
    """The place of an installation in the release of a version: a hash, the same in every process, from 0 to 2⁶³ - 1."""
    return int.from_bytes(sha256(version.bytes + installation.bytes).digest()[:8]) >> 1

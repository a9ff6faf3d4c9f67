"""Trials of apps on copies of stores (contract, section 21)."""

from datetime import datetime, timedelta
from typing import ClassVar, Final
from uuid import UUID

from django.db import models
from django.utils import timezone

from accounts.models import Business, User
from common.ids import new_id
from marketplace.models import App

PATIENCE: Final = timedelta(seconds=60)  # within which the copy is made, or not at all


class TrialQuerySet(models.QuerySet["Trial"]):
    def open(self) -> "TrialQuerySet":
        """Those whose copy is there, or is being made."""
        return self.filter(ended_at=None)


class Trial(models.Model):
    """An app that a merchant tries on a copy of their store. A store has at most one that hasn't ended.

    Changed only by `teststores.trials`. It goes with its copy; one whose copy was never made, after a day.
    """

    app_id: UUID
    store_id: UUID
    copy_id: UUID | None

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # No database constraint for the others: a table that refers to many would lock them all when it is made.
    app = models.ForeignKey(
        App, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    store = models.ForeignKey(
        Business, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    copy = models.OneToOneField(Business, on_delete=models.CASCADE, null=True, related_name="trial")
    asked_by = models.ForeignKey(
        User, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    asked_at = models.DateTimeField(default=timezone.now)
    ended_at = models.DateTimeField(null=True)
    takes_settings = models.BooleanField(
        default=False,
        help_text="The merchant wants the settings of the trial in the store, once the app is installed there.",
    )

    objects: ClassVar[TrialQuerySet] = TrialQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["store"], condition=models.Q(ended_at=None), name="one_trial_of_a_store"
            )
        ]

    def __str__(self) -> str:
        return f"Trial of {self.app_id} on {self.store_id}"

    def waits(self, now: datetime) -> bool:
        """Whether a worker may still make the copy."""
        return self.ended_at is None and self.copy_id is None and now < self.asked_at + PATIENCE

"""What happened to an installation."""

from django.db import models

from accounts.models import User
from common import lengths
from common.ids import new_id
from installations.enums import HistoryKind
from installations.models.installations import Installation


class HistoryEntry(models.Model):
    """One entry of an installation's history. Append-only and kept forever, as the proof of an erasure.

    Written by `installations.services.history`, in the transaction of the change.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(
        Installation, on_delete=models.CASCADE, related_name="history", db_index=False
    )
    kind = models.CharField(max_length=20, choices=HistoryKind.choices)
    at = models.DateTimeField()
    actor = models.ForeignKey(
        User,
        on_delete=models.PROTECT,
        null=True,
        related_name="+",
        help_text="Whose act it was; empty for the app's and the platform's own.",
    )
    scopes = models.JSONField(
        default=list,
        help_text="What was granted from then on, where that was decided; at the end, what was held.",
    )
    note = models.CharField(max_length=lengths.NOTE, blank=True)

    class Meta:
        verbose_name_plural = "history entries"
        indexes = [models.Index(fields=["installation", "at"], name="installation_history")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} at {self.at:%Y-%m-%d %H:%M}"

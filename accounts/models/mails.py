"""The mails that wait."""

from datetime import datetime
from typing import Any

from django.db import models
from django.utils import timezone

from common.contacts import LONGEST_EMAIL, kept_email_key
from common.db.fields import EncryptedTextField, KeyField
from common.ids import new_id


class MailQuerySet(models.QuerySet["Mail"]):
    def due(self, now: datetime) -> "MailQuerySet":
        """In the order in which they are sent."""
        return self.filter(given_up_at=None, not_before__lte=now).order_by("is_bulk", "not_before", "id")


class Mail(models.Model):
    """A mail to one address that is still to be sent. The row goes with the sending.

    `accounts.services.outbox` writes rows and `accounts.services.sender` sends them. No other module changes any.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    kind = models.CharField(max_length=40)
    to = models.CharField(max_length=320)
    to_key: Any = KeyField(of="to", key=kept_email_key, max_length=LONGEST_EMAIL, db_index=True)
    about_id: Any = models.UUIDField(null=True, db_index=True, help_text="Of the row that it is about.")
    content = EncryptedTextField(
        null=True, help_text="JSON: what the mail says, or what its writer needs to write it when it is sent."
    )
    once = models.CharField(max_length=340, null=True, unique=True, help_text="Of which one waits at a time.")
    is_bulk = models.BooleanField(default=False, help_text="Sent after those that people wait for.")
    written_at = models.DateTimeField(default=timezone.now)
    not_before = models.DateTimeField(default=timezone.now)
    tries = models.PositiveIntegerField(default=0)
    failing_since = models.DateTimeField(null=True)
    error = models.CharField(max_length=64, default="", help_text="The kind of the last error.")
    given_up_at = models.DateTimeField(null=True)

    objects = MailQuerySet.as_manager()

    class Meta:
        indexes = [
            models.Index(fields=["given_up_at", "is_bulk", "not_before", "id"], name="mails_by_turn"),
        ]

    def __str__(self) -> str:
        return f"Mail {self.kind} {self.pk}"

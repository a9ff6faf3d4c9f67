"""URLs of the platform that receive webhooks from a sandbox store."""

from django.db import models
from django.utils import timezone

from common.ids import new_id
from marketplace.models import App
from webhooks.enums import InboxAnswer


class Inbox(models.Model):
    """A URL of the platform that receives an app's webhooks from its developer's sandbox store, to be read on a page.

    Written by `webhooks.services.inboxes`. Its URL contains `key`. It takes signed deliveries only.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.OneToOneField(App, on_delete=models.CASCADE, related_name="inbox")
    key = models.CharField(max_length=43, unique=True, editable=False)
    answer = models.CharField(max_length=6, choices=InboxAnswer.choices, default=InboxAnswer.OK)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        verbose_name_plural = "inboxes"

    def __str__(self) -> str:
        return f"Inbox of {self.app_id}"


class InboxEntry(models.Model):
    """A webhook that an inbox received, and how it was answered. Written by `webhooks.services.inboxes`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # The index below begins with it.
    inbox = models.ForeignKey(Inbox, on_delete=models.CASCADE, related_name="entries", db_index=False)
    delivery_id = models.UUIDField(help_text="The delivery may have been deleted since.")
    event_type = models.CharField(max_length=40)
    headers = models.JSONField(default=dict)
    body = models.TextField()
    answer = models.CharField(max_length=6, choices=InboxAnswer.choices)
    received_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "inbox entries"
        indexes = [models.Index("inbox", models.F("id").desc(), name="inbox_entry_newest")]

    def __str__(self) -> str:
        return f"{self.event_type} at {self.received_at}"

"""Webhooks, the endpoints behind them, who sends to them, and inboxes: URLs of the platform that receive webhooks from a sandbox store."""

from django.db import models
from django.utils import timezone

from accounts.models import Business, User
from common.db.fields import EncryptedTextField
from common.ids import new_id
from installations.models import Installation
from marketplace.models import App
from webhooks.endpoints import EndpointField, endpoint_key
from webhooks.enums import InboxAnswer, Pace, Stage


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def kept(self) -> "WebhookQuerySet":
        """Those that the app has not deleted."""
        return self.filter(deleted_at=None)

    def receiving(self) -> "WebhookQuerySet":
        """Those for which events are recorded: active, or disabled automatically (their deliveries are held)."""
        return self.filter(models.Q(is_active=True) | models.Q(disabled_at__isnull=False))


class Webhook(models.Model):
    """A registered URL with its events and secret.

    Changed only by `webhooks.services`: `registration` for the app, `app_defined` to follow the app's Webhook URL,
    `disabling` and `notifications` for its health. An empty `events` belongs to an app-defined webhook whose list the
    app hasn't changed: `queries.events_of` then reads the list from the app. `disabled_at` is set while the platform,
    not the app, has switched it off.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2048)
    endpoint = EndpointField(editable=False)
    secret = EncryptedTextField(editable=False)
    events = models.JSONField(default=list)
    filter = models.TextField(
        null=True,
        blank=True,
        editable=False,
        help_text="JSON, as the app sent it; empty: every event that it names. The app-defined webhook has the app's.",
    )
    description = models.CharField(max_length=300, blank=True)
    is_active = models.BooleanField(default=True)
    is_app_defined = models.BooleanField(default=False)
    lacks_url = models.BooleanField(
        default=False, help_text="Off because the app has no Webhook URL. On again once it has one."
    )
    disabled_reason = models.CharField(max_length=300, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    judged_from = models.DateTimeField(
        null=True, blank=True, help_text="Earlier attempts don't count, for instance those to an earlier URL."
    )
    failing_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The first failed attempt after the last success, set within a minute.",
    )
    notified_stage = models.PositiveSmallIntegerField(
        choices=Stage.choices, default=Stage.WELL, help_text="The last stage the developer was notified of."
    )
    notified_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["installation"],
                condition=models.Q(is_app_defined=True),
                name="one_app_defined_webhook_per_installation",
            )
        ]
        # Few rows: the lists of developers look for them among the webhooks of all stores.
        indexes = [
            models.Index(
                "installation", name="webhook_failing", condition=models.Q(failing_since__isnull=False)
            ),
            models.Index(
                "installation", name="webhook_disabled", condition=models.Q(disabled_at__isnull=False)
            ),
            models.Index(
                "notified_at", name="webhook_notified", condition=models.Q(notified_at__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.url

    def find_endpoint(self) -> int:
        return endpoint_key(self.installation.app_id, self.url, sandbox=self.installation.own_sandbox_id)


class Endpoint(models.Model):
    """How fast an endpoint responds, shared by all dispatchers. Written by `webhooks.engine.recording`."""

    id = models.BigIntegerField(primary_key=True, editable=False)
    pace = models.CharField(max_length=6, choices=Pace.choices, blank=True)

    def __str__(self) -> str:
        return f"{self.id}: {self.get_pace_display()}"


class DispatcherSlot(models.Model):
    """A running dispatcher or listener. Its leases are valid while its heartbeat continues.

    Written by `webhooks.engine.slots` for dispatchers, by `webhooks.engine.listeners` for listeners.
    """

    process = models.CharField(max_length=100, help_text="Host and process id.")
    seen_at = models.DateTimeField(help_text="The last heartbeat, by the database's clock.")
    is_claiming = models.BooleanField(default=True, help_text="Off for a listener.")
    app = models.OneToOneField(
        App,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        help_text="The app that a developer listens for; empty for a dispatcher.",
    )
    person = models.ForeignKey(
        User,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        help_text="Who listens: the listener gets what is for the app on this person's sandbox and test stores.",
    )
    store = models.OneToOneField(
        Business,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        help_text="The only test store that a test listens for, instead of an app.",
    )

    def __str__(self) -> str:
        return self.process


# --- Inboxes -----------------------------------------------------------------------------------------


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

"""Webhooks, the events that happened, and how each event gets to each webhook."""

from django.db import models
from django.utils import timezone

from accounts.models import Business
from common.fields import EncryptedTextField
from common.ids import new_id
from installations.models import Installation
from webhooks.endpoints import EndpointField, endpoint_key
from webhooks.enums import DeliveryStatus, Pace


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def kept(self) -> "WebhookQuerySet":
        """Those that the app has not deleted."""
        return self.filter(deleted_at=None)


class Webhook(models.Model):
    """A registered URL with its events and secret. Changed only by `webhooks.services.registration`."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2048)
    endpoint = EndpointField(editable=False)
    secret = EncryptedTextField(editable=False)
    events = models.JSONField(default=list)
    description = models.CharField(max_length=300, blank=True)
    is_active = models.BooleanField(default=True)
    is_app_defined = models.BooleanField(default=False)
    disabled_reason = models.CharField(max_length=300, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    deleted_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = WebhookQuerySet.as_manager()

    def __str__(self) -> str:
        return self.url

    def find_endpoint(self) -> int:
        return endpoint_key(self.installation.app_id, self.url)


class Endpoint(models.Model):
    """What is known of an endpoint, learnt by any dispatcher from its attempts. Written by `webhooks.claims`."""

    id = models.BigIntegerField(primary_key=True, editable=False)
    pace = models.CharField(max_length=6, choices=Pace.choices, blank=True)

    def __str__(self) -> str:
        return f"{self.id}: {self.get_pace_display()}"


class Event(models.Model):
    """Something that happened to a business. `data` is the exact JSON text that is sent, made once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+")
    type = models.CharField(max_length=40)
    data = models.TextField()
    occurred_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.type


# Exactly what is PENDING or RETRYING has a due time. SQLite uses the index only where it need not compare values.
_CLAIMABLE = models.Q(due_at__isnull=False, lease_until=None)


class Delivery(models.Model):
    """One event for one webhook; its id is the `X-Service-Event-Id`, the same over all attempts.

    State is moved only by `webhooks.claims`, for the dispatcher, and by `webhooks.services`. A dispatcher claims
    a due row by setting `lease_until`. Every claim, result and cancellation raises `fence`, and a result is
    taken only from who knows the current one: a dispatcher that was paused past its lease changes nothing.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    # The two indexes below begin with it.
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    # The webhook's, kept here for the index by which a claim goes from endpoint to endpoint.
    endpoint = EndpointField(editable=False)
    status = models.CharField(max_length=9, choices=DeliveryStatus.choices, default=DeliveryStatus.PENDING)
    due_at = models.DateTimeField(null=True, help_text="When to try next; empty when nothing is left to do.")
    attempts_made = models.PositiveIntegerField(default=0, help_text="Since the schedule began anew.")
    attempt_count = models.PositiveIntegerField(default=0, help_text="Ever made; numbers the attempts.")
    lease_until = models.DateTimeField(null=True, help_text="Being sent; whoever claimed it has until then.")
    fence = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["webhook", "event"], name="one_delivery_per_webhook_and_event")
        ]
        indexes = [
            models.Index("due_at", "id", name="delivery_due", condition=_CLAIMABLE),
            models.Index("endpoint", "due_at", "id", name="delivery_turn", condition=_CLAIMABLE),
            # Not by `lease_until`: entries that always come at the end of an index leave dead pages behind.
            models.Index("endpoint", name="delivery_leased", condition=models.Q(lease_until__isnull=False)),
            models.Index("webhook", models.F("id").desc(), name="delivery_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.event_id} to {self.webhook_id}"

    def find_endpoint(self) -> int:
        return self.webhook.endpoint if self.endpoint is None else self.endpoint


class Attempt(models.Model):
    """One HTTP try. Append-only."""

    # The constraint's index begins with it.
    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts", db_index=False)
    number = models.PositiveIntegerField()
    attempted_at = models.DateTimeField()
    http_status = models.PositiveSmallIntegerField(null=True)
    duration_ms = models.PositiveIntegerField()
    error_class = models.CharField(max_length=20, blank=True)
    response_excerpt = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["delivery", "number"], name="attempt_number")]

    def __str__(self) -> str:
        return f"Attempt {self.number} of {self.delivery_id}"

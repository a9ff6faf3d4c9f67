"""Webhooks, the events that happened, and how each event gets to each webhook."""

from django.db import models
from django.utils import timezone

from accounts.models import Business
from common.fields import EncryptedTextField
from common.ids import new_id
from installations.models import Installation
from marketplace.models import App
from webhooks.endpoints import EndpointField, endpoint_key
from webhooks.enums import OPEN_ERASURES, DeliveryStatus, ErasureState, Pace, Stage


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def kept(self) -> "WebhookQuerySet":
        """Those that the app has not deleted."""
        return self.filter(deleted_at=None)

    def receiving(self) -> "WebhookQuerySet":
        """Those for which events are recorded: switched on, or disabled automatically (held then)."""
        return self.filter(models.Q(is_active=True) | models.Q(disabled_at__isnull=False))


class Webhook(models.Model):
    """A registered URL with its events and secret.

    Changed only by `webhooks.services`: `registration` for the app, `app_defined` where it follows the app's
    Webhook URL, `disabling` and `telling` for its health. An empty `events` is that of an app-defined webhook
    nobody has changed: `queries.events_of` reads the list then from the app. `disabled_at` is set while the
    platform, and not the app, has it switched off.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2048)
    endpoint = EndpointField(editable=False)
    secret = EncryptedTextField(editable=False)
    events = models.JSONField(default=list)
    description = models.CharField(max_length=300, blank=True)
    is_active = models.BooleanField(default=True)
    is_app_defined = models.BooleanField(default=False)
    lacks_url = models.BooleanField(
        default=False, help_text="Switched off since the app has no Webhook URL; comes back with one."
    )
    disabled_reason = models.CharField(max_length=300, blank=True)
    disabled_at = models.DateTimeField(null=True, blank=True)
    judged_from = models.DateTimeField(
        null=True, blank=True, help_text="What was attempted before does not count: a new URL, a new start."
    )
    failing_since = models.DateTimeField(
        null=True,
        blank=True,
        help_text="The first failed attempt after the last success, once it was noticed.",
    )
    told_stage = models.PositiveSmallIntegerField(
        choices=Stage.choices, default=Stage.WELL, help_text="What the developer has been told of it."
    )
    told_at = models.DateTimeField(null=True, blank=True)
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
    # The index begins with it.
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+", db_index=False)
    type = models.CharField(max_length=40)
    data = models.TextField()
    occurred_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index("business", "type", models.F("id").desc(), name="event_newest_of_type")]

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
    # Indexes below begin with these two.
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
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
            models.UniqueConstraint(fields=["event", "webhook"], name="one_delivery_per_event_and_webhook")
        ]
        indexes = [
            # It brings the endpoint along, so that no other index can spare a claim more reading.
            models.Index(
                fields=["due_at", "id"], name="delivery_due", condition=_CLAIMABLE, include=["endpoint"]
            ),
            models.Index("endpoint", "due_at", "id", name="delivery_turn", condition=_CLAIMABLE),
            # Not by `lease_until`: entries that always come at the end of an index leave dead pages behind.
            models.Index("endpoint", name="delivery_leased", condition=models.Q(lease_until__isnull=False)),
            models.Index("webhook", models.F("id").desc(), name="delivery_newest"),
            models.Index("webhook", "status", "finished_at", name="delivery_outcome"),
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
        indexes = [
            models.Index("attempted_at", name="attempt_time"),
            models.Index("attempted_at", name="attempt_gone", condition=models.Q(http_status=410)),
        ]

    def __str__(self) -> str:
        return f"Attempt {self.number} of {self.delivery_id}"


class Erasure(models.Model):
    """That the app of an ended installation erases the business's data: what is owed, and how far it has come.

    Moved only by `webhooks.services.erasure`. The deliveries of `event` are the sending itself; this row and the
    installation's history outlive them, as the proof.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.OneToOneField(Installation, on_delete=models.CASCADE, related_name="erasure")
    event = models.OneToOneField(
        Event,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        help_text="Empty once it is 30 days old.",
    )
    state = models.CharField(max_length=11, choices=ErasureState.choices, default=ErasureState.DUE)
    due_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, help_text="The first attempt.")
    confirmed_at = models.DateTimeField(null=True, help_text="The attempt that the app answered with 2xx.")
    alarmed_at = models.DateTimeField(null=True, help_text="When operators were told that it is overdue.")

    class Meta:
        indexes = [
            models.Index("due_at", name="erasure_open", condition=models.Q(state__in=OPEN_ERASURES)),
        ]

    def __str__(self) -> str:
        return f"Data erasure of {self.installation}"


class DailyDeliveryCount(models.Model):
    """An app's deliveries of one UTC day, on production installs of real businesses.

    Written by `webhooks.services.counting`. A delivery counts once, on the day of its newest attempt;
    `answered` and `duration_ms` are of all attempts of the day that got an HTTP answer.
    """

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="+", db_index=False)
    date = models.DateField(db_index=True)
    successful = models.PositiveIntegerField()
    failed = models.PositiveIntegerField()
    answered = models.PositiveIntegerField()
    duration_ms = models.PositiveBigIntegerField(help_text="The sum.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["app", "date"], name="one_count_per_app_and_day")]

    def __str__(self) -> str:
        return f"{self.app_id} on {self.date}"

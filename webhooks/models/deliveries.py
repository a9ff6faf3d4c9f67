"""Events, the delivery of each to each webhook, and their counts."""

from uuid import UUID

from django.db import models
from django.utils import timezone

from accounts.models import Business
from common.db.partitions import Partitions
from common.ids import id_from, new_id
from common.tracing import Trace, current_foreign_trace_id, current_request_id
from installations.models import Installation
from marketplace.models import App
from webhooks.endpoints import EndpointField
from webhooks.enums import FAILING, DeliveryStatus, HeldReason
from webhooks.fields import DeliveryIdField, EventTypeField, InstallationsField
from webhooks.models.webhooks import DispatcherSlot, Webhook

# Events, deliveries and attempts are split alike, by the time of the event, so that a week of all three goes at once.
# Weeks: a claim looks into each partition (docs/decisions/0036).
_DAYS = 7

# A delivery changes two or three times, all within seconds. So there is room on each page for the row's next version,
# and a vacuum for every few thousand changed rows: a claim walks past what is dead until it is vacuumed.
_CHANGING = {
    "fillfactor": "70",
    "autovacuum_vacuum_scale_factor": "0",
    "autovacuum_vacuum_threshold": "10000",
    "autovacuum_vacuum_cost_delay": "0",
    "autovacuum_analyze_scale_factor": "0.02",
}


class Event(models.Model):
    """Something that happened to a business. `data` is the exact JSON text that is sent, serialized once."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    # The index below begins with it.
    business = models.ForeignKey(Business, on_delete=models.CASCADE, related_name="+", db_index=False)
    type = models.CharField(max_length=40)
    data = models.TextField()
    occurred_at = models.DateTimeField()
    request_id = models.UUIDField(
        default=current_request_id,
        null=True,
        editable=False,
        help_text="Of the request that caused it, if one did.",
    )
    trace_id = models.UUIDField(
        default=current_foreign_trace_id,
        null=True,
        editable=False,
        help_text="Of the trace that this request belonged to, where it named one.",
    )
    installation = models.ForeignKey(
        Installation,
        on_delete=models.CASCADE,
        null=True,
        related_name="+",
        db_index=False,
        help_text="The only installation that may see it; empty for an event of the business.",
    )
    # `webhooks.feed` gives both. 0: written before the feed was there.
    position = models.BigIntegerField(default=0, help_text="The transaction that wrote it.")
    horizon = models.BigIntegerField(default=0, help_text="The oldest transaction that was running then.")

    partitions = Partitions(days=_DAYS)

    class Meta:
        indexes = [
            models.Index("business", "type", models.F("id").desc(), name="event_newest_of_type"),
            models.Index(fields=["business", "position", "id"], name="event_in_feed"),
            models.Index("position", name="event_position"),  # of all stores, for `streams`
        ]

    def __str__(self) -> str:
        return self.type

    @property
    def trace(self) -> Trace:
        """The trace that its deliveries continue. An event without a request uses its own id."""
        request_id = self.request_id or self.id
        return Trace(request_id, self.trace_id or request_id)


# PENDING and RETRYING rows, and no others, have a due time. SQLite uses a partial index only for conditions like these.
_CLAIMABLE = models.Q(due_at__isnull=False, lease_until=None)
_FAILED = models.Q(status__in=FAILING) & ~models.Q(event_type="webhook.test")


class Delivery(models.Model):
    """One event for one webhook. Its id is the `X-Service-Event-Id`, the same for all attempts.

    The id is made of the event's time and a hash of both ids. So there is one delivery for each event and webhook,
    which no other unique constraint of a partitioned table could promise.

    Only `webhooks.engine` and `webhooks.services` change its state. A dispatcher claims a due row by setting
    `lease_until` and `leased_by`. The lease ends at that time, or earlier when the heartbeat of the dispatcher's slot
    stops. Every claim, result and cancellation increments `fence`, and a result counts only with the current value.
    So a dispatcher that was paused for longer than its lease changes nothing.
    """

    id = DeliveryIdField(primary_key=True, editable=False)
    # No database constraint: none may lead into a partitioned table. Indexes below begin with these two.
    event = models.ForeignKey(
        Event, on_delete=models.CASCADE, related_name="deliveries", db_index=False, db_constraint=False
    )
    # No database constraint: it would lock the row of each webhook that gets an event, until the event's transaction ends.
    webhook = models.ForeignKey(
        Webhook, on_delete=models.CASCADE, related_name="deliveries", db_index=False, db_constraint=False
    )
    # Copies, for the lists of an app, which would have to join 100,000 webhooks otherwise.
    app_id = InstallationsField(editable=False)
    business_id = InstallationsField(editable=False)
    event_type = EventTypeField(max_length=40, editable=False)
    # A copy of the webhook's, for the index that claims use.
    endpoint = EndpointField(editable=False)
    status = models.CharField(max_length=9, choices=DeliveryStatus.choices, default=DeliveryStatus.PENDING)
    held_reason = models.CharField(
        max_length=6,
        choices=HeldReason.choices,
        blank=True,
        default=HeldReason.DISABLED,
        db_default=HeldReason.DISABLED.value,
        help_text="Why it is held. Without meaning in other states.",
    )
    due_at = models.DateTimeField(null=True, help_text="The next attempt. Empty if there will be none.")
    attempts_made = models.PositiveIntegerField(
        default=0, help_text="Attempts in the current retry schedule."
    )
    attempt_count = models.PositiveIntegerField(
        default=0, help_text="All attempts, including earlier schedules."
    )
    lease_until = models.DateTimeField(null=True, help_text="Set while it is being sent: the lease's end.")
    # No database constraint: it would lock the slot's row in each claim.
    leased_by = models.ForeignKey(
        DispatcherSlot,
        on_delete=models.DO_NOTHING,
        null=True,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )
    fence = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(null=True)

    partitions = Partitions(days=_DAYS, storage=_CHANGING)

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = [
            models.Index("event", name="delivery_of_event"),
            models.Index("app_id", models.F("id").desc(), name="delivery_of_app"),
            # It includes the endpoint, so that PostgreSQL prefers it for claims.
            models.Index(
                fields=["due_at", "id"], name="delivery_due", condition=_CLAIMABLE, include=["endpoint"]
            ),
            # Only what names an endpoint can use it, so what looks by time never reads it instead (docs/decisions/0015).
            models.Index(
                "endpoint",
                "due_at",
                "id",
                name="delivery_of_endpoint",
                condition=_CLAIMABLE & models.Q(endpoint__isnull=False),
            ),
            # By time, so that claims leave out the entries of leases that have ended long ago.
            models.Index(
                "lease_until", name="delivery_lease_end", condition=models.Q(lease_until__isnull=False)
            ),
            models.Index("webhook", models.F("id").desc(), name="delivery_newest"),
            models.Index("webhook", "status", "finished_at", name="delivery_outcome"),
            # Which webhooks failed at all (webhooks/services/disabling.py).
            models.Index("webhook", name="delivery_failed", condition=_FAILED),
        ]

    def __str__(self) -> str:
        return f"{self.event_id} to {self.webhook_id}"

    def find_id(self) -> UUID:
        return id_from(self.event_id, self.webhook_id)

    def find_endpoint(self) -> int:
        return self.webhook.endpoint if self.endpoint is None else self.endpoint


class Attempt(models.Model):
    """One HTTP request for a delivery, with its outcome. Append-only."""

    pk = models.CompositePrimaryKey("delivery_id", "number")
    # The key's index begins with it. No database constraint: none may lead into a partitioned table.
    delivery = models.ForeignKey(
        Delivery, on_delete=models.CASCADE, related_name="attempts", db_index=False, db_constraint=False
    )
    number = models.PositiveIntegerField()
    attempted_at = models.DateTimeField()
    http_status = models.PositiveSmallIntegerField(null=True)
    duration_ms = models.PositiveIntegerField()
    error_class = models.CharField(max_length=20, blank=True)
    response_excerpt = models.TextField(blank=True)
    by_listener = models.BooleanField(
        default=False, db_default=False, help_text="Made on the developer's machine, by the command listen."
    )
    due_at = models.DateTimeField(
        null=True,
        help_text="On a test store: when it was due. Moves with the store's clock, as the delivery's does.",
    )

    partitions = Partitions(days=_DAYS, by="delivery_id")

    class Meta:
        indexes = [
            models.Index("attempted_at", name="attempt_time"),
            models.Index("attempted_at", name="attempt_gone", condition=models.Q(http_status=410)),
        ]

    def __str__(self) -> str:
        return f"Attempt {self.number} of {self.delivery_id}"


class DailyDeliveryCount(models.Model):
    """Counts an app's deliveries of one UTC day, on production installs of real businesses.

    Written by `webhooks.services.counting`. A delivery counts once, on the day of its newest attempt. `answered` and
    `duration_ms` cover all attempts of the day that got an HTTP response.
    """

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="+", db_index=False)
    date = models.DateField(db_index=True)
    successful = models.PositiveIntegerField()
    failed = models.PositiveIntegerField()  # with those that are being retried
    retrying = models.PositiveIntegerField(default=0, db_default=0)
    answered = models.PositiveIntegerField()
    duration_ms = models.PositiveBigIntegerField(help_text="Sum over the answered attempts.")
    hours = models.JSONField(
        default=dict,
        db_default={},
        help_text="The five figures and the latencies of each UTC hour that has any, by its number from 0 to 23.",
    )
    latencies = models.JSONField(
        default=dict,
        db_default={},
        help_text="How many of the answered attempts took so many milliseconds, in the steps of `counting.STEPS`.",
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["app", "date"], name="one_count_per_app_and_day")]

    def __str__(self) -> str:
        return f"{self.app_id} on {self.date}"

"""Webhooks, events, and the delivery of each event to each webhook."""

from uuid import UUID

from django.db import models
from django.utils import timezone

from accounts.models import Business, User
from common.db.fields import EncryptedTextField
from common.db.partitions import Partitions
from common.ids import id_from, new_id
from common.tracing import Trace, current_foreign_trace_id, current_request_id
from installations.models import Installation
from marketplace.models import App
from stores.models import CustomerErasure
from webhooks.endpoints import EndpointField, endpoint_key
from webhooks.enums import OPEN_ERASURES, DeliveryStatus, ErasureState, HeldReason, InboxAnswer, Pace, Stage
from webhooks.fields import DeliveryIdField, EventTypeField, InstallationsField

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
    # `webhooks.positions` gives both. 0: written before the feed was there.
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
_FAILED = models.Q(status__in=(DeliveryStatus.RETRYING, DeliveryStatus.EXHAUSTED)) & ~models.Q(
    event_type="webhook.test"
)


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


class ErasureQuerySet(models.QuerySet["Erasure"]):
    def of_businesses(self) -> "ErasureQuerySet":
        return self.filter(customer=None)

    def of_customers(self) -> "ErasureQuerySet":
        return self.filter(customer__isnull=False)


class Erasure(models.Model):
    """The request that an app erase data: a business's after an uninstall, or one customer's.

    Only `webhooks.services.erasure` and `webhooks.services.customer_erasure` change its state. The deliveries of `event` send
    the request. This row is kept longer than those, as proof; for a business's, so is the installation's history.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(
        Installation, on_delete=models.CASCADE, related_name="erasures", db_index=False
    )
    # The second constraint below begins with it.
    customer = models.ForeignKey(
        CustomerErasure,
        on_delete=models.CASCADE,
        null=True,
        related_name="requests",
        db_index=False,
        help_text="Whose data; empty: the business's.",
    )
    event = models.OneToOneField(
        Event,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        db_constraint=False,
        help_text="Empty after 30 days, when events are deleted.",
    )
    state = models.CharField(max_length=11, choices=ErasureState.choices, default=ErasureState.DUE)
    due_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, help_text="The first attempt.")
    confirmed_at = models.DateTimeField(null=True, help_text="The attempt that the app answered with 2xx.")
    alarmed_at = models.DateTimeField(null=True, help_text="When operators were notified that it is overdue.")
    answer = models.CharField(
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text="Of a customer's: the app's response in words.",
    )

    objects = ErasureQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["installation"],
                condition=models.Q(customer=None),
                name="one_erasure_of_a_business_per_installation",
            ),
            models.UniqueConstraint(
                fields=["customer", "installation"],
                condition=models.Q(customer__isnull=False),
                name="one_erasure_of_a_customer_per_installation",
            ),
        ]
        indexes = [
            models.Index("installation", name="erasure_of_installation"),
            models.Index("due_at", name="erasure_open", condition=models.Q(state__in=OPEN_ERASURES)),
        ]

    def __str__(self) -> str:
        whose = "Data erasure of" if self.customer_id is None else "Erasure of a customer's data by"
        return f"{whose} {self.installation}"


class DailyDeliveryCount(models.Model):
    """Counts an app's deliveries of one UTC day, on production installs of real businesses.

    Written by `webhooks.services.counting`. A delivery counts once, on the day of its newest attempt. `answered` and
    `duration_ms` cover all attempts of the day that got an HTTP response.
    """

    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="+", db_index=False)
    date = models.DateField(db_index=True)
    successful = models.PositiveIntegerField()
    failed = models.PositiveIntegerField()
    answered = models.PositiveIntegerField()
    duration_ms = models.PositiveBigIntegerField(help_text="Sum over the answered attempts.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["app", "date"], name="one_count_per_app_and_day")]

    def __str__(self) -> str:
        return f"{self.app_id} on {self.date}"


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

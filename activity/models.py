"""API call log, its gaps, scope usage and deprecation usage.

Written only by `activity.services.writing`, in batches, from the queue in `activity.log`. No column has a foreign key
constraint: a batch must never wait for, or fail because of, the row of an app.
"""

from django.db import models

from common.db.partitions import Partitions
from common.ids import new_id
from installations.models import Installation
from marketplace.models import App


class ApiCall(models.Model):
    """One call of the app API by an installation, kept for seven days. Its id is the request id.

    Bodies are kept of test installs only, masked and cut to 4 KiB. Of other installs the path, message and details are kept,
    with addresses and phone numbers of people masked.
    """

    partitions = Partitions(days=1)

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    at = models.DateTimeField(help_text="When the request came.")
    app = models.ForeignKey(
        App, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    installation = models.ForeignKey(
        Installation, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    token_last_four = models.CharField(max_length=4, blank=True)
    method = models.CharField(max_length=16)
    route = models.CharField(
        max_length=120, blank=True, help_text="The path as documented; empty for an unknown one."
    )
    path = models.TextField(help_text="With the query.")
    status = models.PositiveSmallIntegerField()
    error_code = models.CharField(
        max_length=60, blank=True, db_default="", help_text="Of an error; empty in older rows."
    )
    message = models.TextField(blank=True, help_text="Of an error.")
    details = models.JSONField(null=True, help_text="Of an error: every problem of single fields.")
    duration_ms = models.PositiveIntegerField()
    scope = models.CharField(max_length=40, blank=True, help_text="What the call needs.")
    has_scope = models.BooleanField(default=False, help_text="Whether the token had it.")
    rate_limit = models.PositiveSmallIntegerField(help_text="Requests a minute.")
    rate_left = models.PositiveSmallIntegerField()
    rate_reset = models.PositiveBigIntegerField(
        help_text="The end of the rate limit's window, in Unix seconds."
    )
    idempotency_key = models.CharField(max_length=255, blank=True)
    request_body = models.TextField(blank=True)
    response_body = models.TextField(blank=True)
    trace_id = models.UUIDField(
        null=True, help_text="Of the trace that the caller named; empty where it is the request id."
    )

    class Meta:
        indexes = [
            models.Index("app", models.F("at").desc(), models.F("id").desc(), name="api_call_of_app"),
            models.Index(
                "installation", models.F("at").desc(), models.F("id").desc(), name="api_call_of_installation"
            ),
            models.Index("trace_id", name="api_call_in_trace", condition=models.Q(trace_id__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.status}"


class LogGap(models.Model):
    """Calls of an app that one process could not log, because the database did not keep up."""

    app = models.ForeignKey(App, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False)
    since = models.DateTimeField()
    until = models.DateTimeField()
    count = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"{self.count} calls of {self.app_id} from {self.since} on"


class ScopeUse(models.Model):
    """How many calls of an app used a scope at a route on one UTC day. Kept for 30 days, longer than the calls."""

    app = models.ForeignKey(
        App, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    scope = models.CharField(max_length=40)
    route = models.CharField(max_length=140, help_text="Method and documented path.")
    day = models.DateField(db_index=True)
    count = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["app", "scope", "route", "day"], name="one_count_of_scope_use")
        ]

    def __str__(self) -> str:
        return f"{self.scope} at {self.route} on {self.day}: {self.count}"


class StoreScopeUse(models.Model):
    """The last UTC day on which an installation used a scope. Kept for 400 days, and no longer than the store's data."""

    app = models.ForeignKey(
        App, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    installation = models.ForeignKey(
        Installation, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    scope = models.CharField(max_length=40)
    last_day = models.DateField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["installation", "scope"], name="one_last_use_of_a_scope_in_a_store"
            )
        ]
        indexes = [models.Index("app", "scope", models.F("last_day").desc(), name="scope_use_in_stores")]

    def __str__(self) -> str:
        return f"{self.scope} by {self.installation_id}: last on {self.last_day}"


class DeprecatedUse(models.Model):
    """How often an installation called a deprecated operation. Kept for 30 days after the last call."""

    app = models.ForeignKey(
        App, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    installation = models.ForeignKey(
        Installation, on_delete=models.DO_NOTHING, related_name="+", db_constraint=False, db_index=False
    )
    operation = models.CharField(max_length=140, help_text="Method and documented path.")
    first_at = models.DateTimeField()
    last_at = models.DateTimeField(db_index=True)
    count = models.PositiveBigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["installation", "operation"], name="one_count_of_deprecated_use")
        ]
        indexes = [models.Index("app", models.F("last_at").desc(), name="deprecated_use_of_app")]

    def __str__(self) -> str:
        return f"{self.operation} by {self.installation_id}: {self.count}"

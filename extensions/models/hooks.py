"""Hook calls, the breaker that skips a failing hook, and a merchant's preferences."""

from django.db import models
from django.utils import timezone

from common.db.leases import LeaseField
from common.db.partitions import Partitions
from common.ids import new_id
from common.tracing import current_request_id
from extensions.enums import CallOutcome
from extensions.models.manifests import Definition
from installations.models import Installation
from marketplace.models import App, Release
from stores.hookpoints import HookPoint


class HookCall(models.Model):
    """One call of a hook, made or skipped. Append-only; kept for 30 days.

    `fallback` is what the store did instead, empty if the answer was used as it was. `order_id` is the
    order that was being placed or paid: one that was refused afterwards doesn't exist. `answer_excerpt` is the beginning of the answer. A production store's shoppers are in its requests, so only
    requests about sandbox stores are kept.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+", db_index=False)
    definition = models.ForeignKey(Definition, on_delete=models.CASCADE, related_name="+", db_index=False)
    hook_point = models.CharField(max_length=40, choices=[(each.value, each.value) for each in HookPoint])
    called_at = models.DateTimeField()
    duration_ms = models.PositiveIntegerField(help_text="0 for a call that was skipped.")
    outcome = models.CharField(max_length=12, choices=CallOutcome.choices)
    http_status = models.PositiveSmallIntegerField(null=True, blank=True)
    problem = models.CharField(max_length=300, blank=True, help_text="The problem, in words.")
    fallback = models.CharField(max_length=200, blank=True)
    answer_excerpt = models.TextField(blank=True)
    request_body = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="The beginning of the request body, on sandbox stores only.",
    )
    order_id = models.UUIDField(null=True, blank=True)
    by_listener = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Answered on the developer's machine, by the command listen.",
    )
    request_id = models.UUIDField(
        default=current_request_id, null=True, editable=False, help_text="Of the request that asked."
    )
    opening_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Of a call that its breaker skipped and that counts as failed in a release: when the breaker opened.",
    )

    partitions = Partitions(days=1)

    class Meta:
        indexes = [
            models.Index("installation", models.F("called_at").desc(), name="hook_call_of_installation"),
            models.Index("definition", models.F("called_at").desc(), name="hook_call_of_definition"),
        ]

    def __str__(self) -> str:
        return f"{self.hook_point} at {self.called_at:%Y-%m-%d %H:%M}: {self.get_outcome_display()}"


class CountedCalls(models.Model):
    """The sum of the calls of a release from `since` to before `until`, so that no look at it reads them again.

    `new` and `old` are those of the new version and of the old one: `{"times": {"50": 12, "51": 3}, "failed": 1, "skipped": 0}`, by milliseconds.
    `stores` has those of the stores in which the new version failed: `{"01932d1c-…": [made, failed, skipped]}`, the worst first.
    `history` has the newest hours and days (`extensions.releases.health`). Written by `extensions.releases.health`.
    """

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="+", db_index=False)
    since = models.DateTimeField()
    until = models.DateTimeField()
    new = models.JSONField()
    old = models.JSONField()
    stores = models.JSONField(default=dict, db_default={})
    history = models.JSONField(default=dict, db_default={})

    class Meta:
        constraints = [models.UniqueConstraint(fields=["release", "since"], name="counted_calls_since")]

    def __str__(self) -> str:
        return f"Calls of release {self.release_id} from {self.since:%Y-%m-%d %H:%M}"


class RelayedCall(models.Model):
    """A hook call on a developer's sandbox store that waits for the app's listener (`webhooks.engine.listeners`).

    Written by `extensions.hooks.relaying`. The row lives as long as the call: the thread that makes the call deletes it.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="+")
    installation = models.ForeignKey(
        Installation, on_delete=models.CASCADE, null=True, related_name="+", db_index=False
    )
    url = models.CharField(max_length=4096)
    headers = models.JSONField(help_text="Pairs, since jsonb would sort the names of an object.")
    body = models.TextField()
    ends_at = models.DateTimeField(help_text="When the checkout stops waiting, by the database's clock.")
    taken_at = models.DateTimeField(null=True, help_text="When the listener took it. It is handed out once.")
    answer = models.JSONField(null=True)

    def __str__(self) -> str:
        return f"{self.url} until {self.ends_at:%H:%M:%S}"


class Breaker(models.Model):
    """Skips a hook that keeps failing, for one installation (contract, section 6). No row: never failed.

    Closed while `open_until` is null. Open: skipped until then; after that one caller makes the trial call, by a
    lease. Written only by `extensions.hooks.breaker`.
    """

    installation = models.ForeignKey(Installation, on_delete=models.CASCADE, related_name="+", db_index=False)
    definition = models.ForeignKey(Definition, on_delete=models.CASCADE, related_name="+")
    failures = models.PositiveIntegerField(default=0, help_text="In a row.")
    opened_times = models.PositiveIntegerField(default=0, help_text="Failures in a row.")
    open_until = models.DateTimeField(null=True, blank=True)
    open_since = models.DateTimeField(
        null=True, blank=True, help_text="Since when it has been skipped, trial calls apart."
    )
    opened_at = models.DateTimeField(
        null=True, blank=True, help_text="When it opened last, after a trial call that failed, too."
    )
    skips_counted = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Calls skipped since then that count as failed in a release."
    )
    trial_until = LeaseField(null=True, blank=True)
    updated_at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["installation", "definition"], name="one_breaker_of_a_hook")
        ]

    def __str__(self) -> str:
        return f"Breaker of {self.definition}: {'open' if self.open_until else 'closed'}"


class HookPreference(models.Model):
    """A merchant's preferences for the hooks of one installation. No row: the defaults."""

    installation = models.OneToOneField(
        Installation, on_delete=models.CASCADE, primary_key=True, related_name="+"
    )
    refuse_unvalidated = models.BooleanField(
        default=False, help_text="Refuse an order that this app should have checked but couldn't."
    )
    most_discount = models.PositiveSmallIntegerField(
        default=100, help_text="The most that this app may take off an order, in per cent of the subtotal."
    )

    def __str__(self) -> str:
        return f"Hook preferences of {self.installation_id}"

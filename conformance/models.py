"""Runs of `check`: whether an app's server behaves as the documentation asks; and the weekly ones of listed apps."""

from typing import ClassVar, Final

from django.db import models
from django.utils import timezone

from accounts.models import Business
from common.ids import new_id
from conformance.enums import RunStatus, Sender
from marketplace.models import App, AppVersion

FAILED_WEEKS: Final = 3  # in a row, after which the listing says so


class RunQuerySet(models.QuerySet["Run"]):
    def running(self) -> "RunQuerySet":
        return self.filter(status=RunStatus.RUNNING)


class Run(models.Model):
    """One run on a throwaway store. Changed only by `conformance.services`.

    A run goes from step to step. `pending` are the requests of the current step, which its sender sends; with the
    responses the step is judged, and the next one prepared. `state` is what later steps must know. `store` is null once
    it is deleted. `version` is the approved version that is tried, as stores run it; null: the working copy.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="+", db_index=False)
    sender = models.CharField(max_length=12, choices=Sender.choices)
    version = models.ForeignKey(
        AppVersion, on_delete=models.CASCADE, null=True, related_name="+", db_index=False
    )
    origin = models.CharField(
        max_length=2048, blank=True, help_text="Of the server under test; empty: as the app is registered."
    )
    store = models.OneToOneField(Business, on_delete=models.SET_NULL, null=True, related_name="+")
    status = models.CharField(max_length=8, choices=RunStatus.choices, default=RunStatus.RUNNING)
    step = models.PositiveSmallIntegerField(default=0)
    pending = models.JSONField(default=list)
    state = models.JSONField(default=dict)
    findings = models.JSONField(default=list)
    started_at = models.DateTimeField(default=timezone.now)
    deadline_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    objects: ClassVar[RunQuerySet] = RunQuerySet.as_manager()  # type: ignore[assignment]

    class Meta:
        indexes = [
            models.Index(fields=["app", "-started_at"], name="run_of_app"),
            models.Index(
                fields=["deadline_at"], name="run_running", condition=models.Q(status=RunStatus.RUNNING)
            ),
        ]

    def __str__(self) -> str:
        return f"Check of {self.app_id} at {self.started_at:%Y-%m-%d %H:%M}"


class WeeklyCheck(models.Model):
    """When a listed app is checked next, and what its last weekly checks found. Changed only by `conformance.services.weekly`.

    `failed_rules` are those of the last check. A rule that had failed when a reviewer approved version `version_number` is in
    `accepted_rules`, and doesn't count until it has passed once. `tries` also names the try under way.
    """

    app = models.OneToOneField(App, on_delete=models.CASCADE, primary_key=True, related_name="+")
    version_number = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(db_index=True)
    tries = models.PositiveSmallIntegerField(default=0, help_text="Begun without a result.")
    checked_at = models.DateTimeField(null=True, help_text="When it last had a result.")
    failed_rules = models.JSONField(default=list)
    accepted_rules = models.JSONField(default=list)
    failing_since = models.DateTimeField(null=True)
    failed_weeks = models.PositiveSmallIntegerField(default=0)
    counted_at = models.DateTimeField(null=True, help_text="When a failed week was last counted.")

    class Meta:
        indexes = [
            models.Index(
                fields=["app"],
                name="weekly_check_not_passing",
                condition=models.Q(failed_weeks__gte=FAILED_WEEKS),
            )
        ]

    def __str__(self) -> str:
        return f"Weekly check of {self.app_id}"

    @property
    def is_on_listing(self) -> bool:
        return self.failed_weeks >= FAILED_WEEKS

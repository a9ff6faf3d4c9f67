"""Runs of `check`: whether an app's server behaves as the documentation asks."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from accounts.models import Business
from common.ids import new_id
from conformance.enums import RunStatus, Sender
from marketplace.models import App


class RunQuerySet(models.QuerySet["Run"]):
    def running(self) -> "RunQuerySet":
        return self.filter(status=RunStatus.RUNNING)


class Run(models.Model):
    """One run on a throwaway store. Changed only by `conformance.services`.

    A run goes from step to step. `pending` are the requests of the current step, which its sender sends; with the
    responses the step is judged, and the next one prepared. `state` is what later steps must know. `store` is null once
    it is deleted.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="+", db_index=False)
    sender = models.CharField(max_length=12, choices=Sender.choices)
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

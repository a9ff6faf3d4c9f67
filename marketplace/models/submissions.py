"""Review rounds of apps, and what was said, checked and decided in them."""

from typing import Any, NoReturn

from django.db import models
from django.utils import timezone

from accounts.models import User
from common.db.leases import LeaseField
from common.ids import new_id
from marketplace.enums import ReleaseMode, ReviewKind, SubmissionStatus
from marketplace.models.apps import App, AppVersion


class Submission(models.Model):
    """One review round of an app. Only `marketplace.services.reviews` changes its state.

    The working copy can't be edited during the round, so the app itself is reviewed. While the round has a `reviewer`,
    the developer can't withdraw it; after the decision, this is the person who decided. `findings` are the reviewer's
    verdicts by `Criterion`: `{"security": {"verdict": "FAIL", "note": "..."}}`.

    `checks` are the results of the last automatic checks, empty before: `{"at": "2026-11-20T15:04:05.123Z",
    "results": [{"title": "Pictures", "evidence": [{"outcome": "WARN", "text": "..."}]}]}`. `checks_due_at` is when they
    run next: the time of the submission, then the end of the lease of the worker that runs them; null once there are results.

    `risk` orders the queue, the highest first; `risk_reasons` are its parts: `[{"weight": 3, "text": "New script"}]`.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.CASCADE, related_name="submissions")
    status = models.CharField(
        max_length=16, choices=SubmissionStatus.choices, default=SubmissionStatus.PENDING_REVIEW
    )
    version = models.CharField(max_length=64)
    developer_name = models.CharField(max_length=120, blank=True, default="", db_default="")
    added_scopes = models.JSONField(default=list, blank=True)
    removed_scopes = models.JSONField(default=list, blank=True)
    scope_reason = models.CharField(max_length=500, blank=True)
    how_to_test = models.TextField(max_length=4000, blank=True)
    release = models.CharField(
        max_length=5, choices=ReleaseMode.choices, default=ReleaseMode.ALL, db_default=ReleaseMode.ALL
    )
    submitted_at = models.DateTimeField(default=timezone.now, editable=False)
    reviewer = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    held_since = models.DateTimeField(null=True, blank=True)
    findings = models.JSONField(default=dict, blank=True)
    checks = models.JSONField(default=dict, blank=True)
    checks_due_at = LeaseField(null=True, blank=True, editable=False)
    checks_tries = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    risk = models.PositiveSmallIntegerField(default=0, db_default=0, editable=False)
    risk_reasons = models.JSONField(default=list, db_default=[], blank=True, editable=False)
    notes = models.TextField(max_length=10_000, blank=True, help_text="For the developer.")
    decided_at = models.DateTimeField(null=True, blank=True)
    approved_version = models.OneToOneField(
        AppVersion, on_delete=models.PROTECT, null=True, blank=True, related_name="submission"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["app"],
                condition=models.Q(status=SubmissionStatus.PENDING_REVIEW),
                name="one_submission_in_review_per_app",
            )
        ]
        indexes = [
            models.Index(
                fields=["submitted_at"],
                condition=models.Q(status=SubmissionStatus.PENDING_REVIEW),
                name="submission_queue",
            ),
            models.Index(
                fields=["checks_due_at"],
                condition=models.Q(status=SubmissionStatus.PENDING_REVIEW, checks_due_at__isnull=False),
                name="submission_checks_due",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.app} {self.version}"

    @property
    def shown_developer(self) -> str:
        """The name that the approval freezes. A submission of before there was this rule has none."""
        return self.developer_name or self.app.developer.name


class CheckRun(models.Model):
    """One run of the automatic checks of a submission, kept as evidence. `by` is empty for a run without a press."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="check_runs")
    at = models.DateTimeField()
    by = models.ForeignKey(User, on_delete=models.PROTECT, null=True, blank=True, related_name="+")
    results = models.JSONField()

    def __str__(self) -> str:
        return f"Checks of {self.submission_id} at {self.at:%Y-%m-%d %H:%M}"


class ReviewMessage(models.Model):
    """A message between the developer of an app and its reviewers. Plain text; never changes."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="messages")
    author = models.ForeignKey(User, on_delete=models.PROTECT, related_name="+")
    from_reviewer = models.BooleanField()
    at = models.DateTimeField()
    text = models.TextField(max_length=4000)

    def __str__(self) -> str:
        return f"Message of {self.at:%Y-%m-%d %H:%M}"


class ReadOnlyLogError(TypeError):
    """An attempt to change or delete entries of an append-only log."""


class ReviewLog(models.QuerySet["ReviewEntry"]):
    """Rows can only be added and read."""

    def update(self, **fields: Any) -> NoReturn:
        raise ReadOnlyLogError("The review log can't be changed.")

    def delete(self) -> NoReturn:
        raise ReadOnlyLogError("The review log can't be removed.")

    def bulk_update(self, *args: Any, **options: Any) -> NoReturn:
        raise ReadOnlyLogError("The review log can't be changed.")


class ReviewEntry(models.Model):
    """One step in the reviews of an app. Append-only."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    app = models.ForeignKey(App, on_delete=models.PROTECT, related_name="review_log", db_index=False)
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, null=True, blank=True, related_name="log"
    )
    kind = models.CharField(max_length=12, choices=ReviewKind.choices)
    actor = models.ForeignKey(User, on_delete=models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField()
    note = models.TextField(blank=True)

    objects = ReviewLog.as_manager()

    class Meta:
        verbose_name_plural = "review entries"
        indexes = [models.Index(fields=["app", "at"], name="review_log")]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} at {self.at:%Y-%m-%d %H:%M}"

    def save(self, *args: Any, **options: Any) -> None:
        if not self._state.adding:
            raise ReadOnlyLogError("The review log can't be changed.")
        super().save(*args, **options)

    def delete(self, *args: Any, **options: Any) -> NoReturn:
        raise ReadOnlyLogError("The review log can't be removed.")

"""Reading submissions and approved versions."""

from django.db.models import OuterRef, Q, QuerySet, Subquery

from marketplace.enums import SubmissionStatus
from marketplace.models import App, AppQuerySet, AppVersion, Submission


def in_review() -> QuerySet[Submission]:
    """The queue: who has waited longest comes first."""
    waiting = Submission.objects.filter(status=SubmissionStatus.PENDING_REVIEW, app__deleted_at=None)
    return waiting.order_by("submitted_at", "id")


def place_in_queue(submission: Submission) -> int:
    """1 for the one that has waited longest."""
    earlier = Q(submitted_at__lt=submission.submitted_at) | Q(
        submitted_at=submission.submitted_at, id__lt=submission.id
    )
    return in_review().filter(earlier).count() + 1


def submissions_of(app: App) -> QuerySet[Submission]:
    """Newest first, with who decided."""
    return app.submissions.select_related("reviewer").order_by("-submitted_at", "-id")


def latest_submission(app: App) -> Submission | None:
    return submissions_of(app).first()


def versions_of(app: App) -> QuerySet[AppVersion]:
    """Newest first, with who approved each."""
    return app.versions.select_related("submission__reviewer").order_by("-number")


def with_last_submission(apps: AppQuerySet) -> AppQuerySet:
    """As `last_submission_status` on each app: how its newest review round stands, None where there was none."""
    newest = Submission.objects.filter(app=OuterRef("pk")).order_by("-submitted_at", "-id")
    return apps.annotate(last_submission_status=Subquery(newest.values("status")[:1]))

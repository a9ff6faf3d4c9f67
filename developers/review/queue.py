"""The queue: what waits for a reviewer, the oldest first."""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from marketplace.enums import SubmissionStatus
from marketplace.models import AppVersion, Submission

WAITING = Q(status=SubmissionStatus.PENDING_REVIEW, reviewer=None)
HELD = Q(status=SubmissionStatus.PENDING_REVIEW, reviewer__isnull=False)
DECIDED = ~Q(status=SubmissionStatus.PENDING_REVIEW)


def with_kind(submissions: "QuerySet[Submission]") -> "QuerySet[Submission]":
    """Bring along what `kind` reads."""
    earlier = AppVersion.objects.filter(app=OuterRef("app"), approved_at__lt=OuterRef("submitted_at"))
    return submissions.annotate(is_update=Exists(earlier))


def kind(submission: Submission) -> str:
    """Of a submission read by `with_kind`: as it was when it was submitted."""
    if not submission.is_update:  # type: ignore[attr-defined]
        return "New app"
    return "More scopes" if submission.added_scopes else "Update"


def waiting() -> "QuerySet[Submission]":
    """What nobody holds, the oldest first, with app and developer."""
    rows = with_kind(Submission.objects.filter(WAITING)).select_related("app__developer")
    return rows.order_by("submitted_at", "id")


def after(submission: Submission) -> Submission | None:
    """What to review next."""
    return waiting().exclude(pk=submission.pk).first()


def counts() -> dict[str, int]:
    """How many are waiting and held."""
    return Submission.objects.filter(status=SubmissionStatus.PENDING_REVIEW).aggregate(
        waiting=Count("id", filter=WAITING), held=Count("id", filter=HELD)
    )

"""Reads a developer's apps, submissions and approved versions."""

from django.db.models import OuterRef, Q, QuerySet, Subquery

from accounts.models import User
from common.db.finders import first_or_not_found, get_or_not_found
from common.lookalikes import looks_like
from marketplace.enums import SubmissionStatus
from marketplace.models import App, AppQuerySet, AppVersion, Submission


def in_review() -> QuerySet[Submission]:
    """The review queue, oldest submission first."""
    waiting = Submission.objects.filter(status=SubmissionStatus.PENDING_REVIEW, app__deleted_at=None)
    return waiting.order_by("submitted_at", "id")


def position_in_queue(submission: Submission) -> int:
    """1 for the oldest submission."""
    earlier = Q(submitted_at__lt=submission.submitted_at) | Q(
        submitted_at=submission.submitted_at, id__lt=submission.id
    )
    return in_review().filter(earlier).count() + 1


def submissions_of(app: App) -> QuerySet[Submission]:
    """Newest first, with the reviewer."""
    return app.submissions.select_related("reviewer").order_by("-submitted_at", "-id")


def latest_submission(app: App) -> Submission | None:
    return submissions_of(app).first()


def versions_of(app: App) -> QuerySet[AppVersion]:
    """Newest first, with who approved each."""
    return app.versions.select_related("submission__reviewer").order_by("-number")


def listed_lookalikes(app: App) -> list[AppVersion]:
    """Listed apps of other developers with a name that people may confuse with this one's."""
    listed = App.objects.listed().exclude(developer=app.developer_id)
    versions = AppVersion.objects.filter(pk__in=listed.values("approved_version")).select_related(
        "app__developer"
    )
    return [version for version in versions.order_by("name", "pk") if looks_like(version.name, app.name)]


def with_last_submission(apps: AppQuerySet) -> AppQuerySet:
    """Annotate `last_submission_status`: the status of the newest review round, None without one."""
    newest = Submission.objects.filter(app=OuterRef("pk")).order_by("-submitted_at", "-id")
    return apps.annotate(last_submission_status=Subquery(newest.values("status")[:1]))


def own_apps(developer: User) -> AppQuerySet:
    """Newest first, with the data of API responses."""
    return (
        App.objects.of_developer(developer).select_related("approved_version").order_by("-created_at", "-id")
    )


def own_app(developer: User, app_id: str) -> App:
    """Raises `NotFound` for a malformed id, another developer's app or a deleted one."""
    return get_or_not_found(own_apps(developer), app_id, "App not found")


def own_app_by_slug(developer: User, slug: str) -> App:
    """Raises `NotFound` like `own_app`."""
    return first_or_not_found(own_apps(developer).filter(slug=slug), "App not found")

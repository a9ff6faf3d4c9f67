"""Reads a developer's apps, submissions and approved versions."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, CharField, IntegerField, OuterRef, Q, QuerySet, Subquery, UUIDField, When
from django.db.models.lookups import Exact
from django.utils import timezone

from accounts.models import User
from common.db.compiled import Compiled, Param, keeps_statements, rows_of_each
from common.db.rows import get_or_not_found
from common.errors import NotFound
from common.text.lookalikes import looks_like
from marketplace.access import with_known_owner
from marketplace.enums import ReleaseState, ReviewKind, SubmissionStatus
from marketplace.models import App, AppQuerySet, AppVersion, Release, ReviewEntry, ReviewMessage, Submission
from marketplace.scopes import in_order

REVIEW_DUE: Final = timedelta(days=3)
"""How long after its submission an app should be decided on. Then it comes before all others in the queue."""

ENOUGH_DECISIONS: Final = 5  # for a median that says something
NEWEST_DECISIONS: Final = 100


def in_queue_order(submissions: QuerySet[Submission], now: datetime | None = None) -> QuerySet[Submission]:
    """Overdue submissions first, then those with the highest risk, then the oldest."""
    return submissions.order_by(*queue_order(now))


def queue_order(now: datetime | None = None) -> list[Any]:
    """The fields and expressions that `in_queue_order` sorts by."""
    first = When(overdue(now or timezone.now()), then=0)
    return [Case(first, default=1, output_field=IntegerField()), "-risk", "submitted_at", "id"]


def overdue(now: datetime) -> Q:
    return Q(submitted_at__lte=now - REVIEW_DUE)


def in_review() -> QuerySet[Submission]:
    """The review queue in its order."""
    waiting = Submission.objects.filter(status=SubmissionStatus.PENDING_REVIEW, app__deleted_at=None)
    return in_queue_order(waiting)


def position_in_queue(submission: Submission) -> int:
    """1 for the submission that is reviewed next."""
    return list(in_review().values_list("pk", flat=True)).index(submission.pk) + 1


def median_wait() -> timedelta | None:
    """The median time from submission to decision, of the newest decisions, in whole minutes. None if there are too few."""
    decided = Submission.objects.filter(
        status__in=[SubmissionStatus.APPROVED, SubmissionStatus.REJECTED], decided_at__isnull=False
    )
    newest = decided.order_by("-decided_at").values_list("submitted_at", "decided_at")[:NEWEST_DECISIONS]
    waits = [(decided_at - submitted_at).total_seconds() for submitted_at, decided_at in newest if decided_at]
    if len(waits) < ENOUGH_DECISIONS:
        return None
    return timedelta(minutes=max(1, round(median(waits) / 60)))


def submissions_of(app: App) -> QuerySet[Submission]:
    """Newest first, with the reviewer."""
    return app.submissions.select_related("reviewer").order_by("-submitted_at", "-id")


def latest_submission(app: App) -> Submission | None:
    return submissions_of(app).first()


def kept_versions(app: App | UUID) -> QuerySet[AppVersion]:
    """The approved versions, newest first, without those that were taken back."""
    return (
        AppVersion.objects.filter(app=app).exclude(release__state=ReleaseState.TAKEN_BACK).order_by("-number")
    )


def release_of(app: App) -> Release | None:
    """The release of the newest approved version; None before the first approval. At most three queries.

    A version that was approved before there were releases went to all stores at once. It gets a row when that is taken back.
    """
    newest = _NEWEST.first(app=app.pk)
    if newest is None:
        return None
    newest.app = app
    release = getattr(newest, "release", None)
    if release is None:
        earlier = kept_versions(app).filter(number__lt=newest.number).first()
        at = newest.approved_at
        release = Release(
            version=newest, earlier=earlier, started_at=at, step_at=at, watched_from=at, ended_at=at
        )
    release.version = newest
    return release


_NEWEST: Final = Compiled(
    lambda: (
        AppVersion.objects.filter(app=Param("app", UUIDField()))
        .select_related("release__earlier")
        .order_by("-number")
    ),
    prepared_as="marketplace_newest_version",
)


MOVES: Final = (
    ReviewKind.APPROVED,
    ReviewKind.ADVANCED,
    ReviewKind.HALTED,
    ReviewKind.RESUMED,
    ReviewKind.TAKEN_BACK,
    ReviewKind.RESTORED,
)
"""What decides which version a store runs. Each leaves its entry in the review log, in its transaction."""


def moves_of(app: App) -> int:
    """How often that changed: another number than before means that stores follow something else."""
    return ReviewEntry.objects.filter(app=app, kind__in=MOVES).count()


def scope_changes(app: App) -> dict[str, list[str]]:
    """The scopes that the working copy adds to the approved version, and those that it removes."""
    wanted, approved = set(app.scopes), set(app.approved_scopes)
    return {"added_scopes": in_order(wanted - approved), "removed_scopes": in_order(approved - wanted)}


def versions_of(app: App) -> QuerySet[AppVersion]:
    """Newest first, with who approved each."""
    return app.versions.select_related("submission__reviewer", "release").order_by("-number")


@dataclass(frozen=True, slots=True)
class Lookalikes:
    """What people may confuse with an app: listed apps by their name, and names of developers of listed apps."""

    apps: list[AppVersion]
    developers: list[str]

    @property
    def warnings(self) -> list[str]:
        """For the developer and the reviewer."""
        names = [
            f"The name looks like {version.name}, a listed app by {version.shown_developer}."
            for version in self.apps
        ]
        return names + [
            f"The developer's name looks like {other}, another developer with a listed app."
            for other in self.developers
        ]


def listed_lookalikes(app: App) -> Lookalikes:
    """Among the apps of other developers. Names the developer as submitted."""
    waiting = app.submissions.filter(status=SubmissionStatus.PENDING_REVIEW).first()
    developer = waiting.shown_developer if waiting else app.shown_developer
    others = _LISTED_OF_OTHERS.rows(developer=app.developer_id)
    names = {version.shown_developer for version in others}
    return Lookalikes(
        [version for version in others if looks_like(version.name, app.name)],
        sorted(name for name in names if looks_like(name, developer)),
    )


def _listed_of_others() -> QuerySet[AppVersion]:
    """With their names, and those of their developers."""
    own: Any = Param("developer", UUIDField())
    listed = App.objects.listed().exclude(pk__in=App.objects.owned_by(own))
    versions = AppVersion.objects.filter(pk__in=listed.values("approved_version"))
    named = versions.select_related("app__developer").only(
        "name", "developer_name", "app__slug", "app__developer__name"
    )
    return named.order_by("name", "pk")


_LISTED_OF_OTHERS: Final = Compiled(_listed_of_others, prepared_as="marketplace_listed_of_others")


def with_last_submission(apps: AppQuerySet) -> AppQuerySet:
    """Annotate `last_submission_status`: the status of the newest review round, None without one."""
    newest = Submission.objects.filter(app=OuterRef("pk")).order_by("-submitted_at", "-id")
    return apps.annotate(last_submission_status=Subquery(newest.values("status")[:1]))


def own_apps(developer: User) -> AppQuerySet:
    """Newest first, with the data of API responses."""
    return App.objects.of(developer).select_related("approved_version").order_by("-created_at", "-id")


def own_app(developer: User, app_id: str) -> App:
    """Raises `NotFound` for a malformed id, a deleted app, and one of which the person isn't a member."""
    return with_known_owner(developer, get_or_not_found(own_apps(developer), app_id, "App not found"))


def own_app_by_slug(developer: User, slug: str) -> App:
    """Raises `NotFound` like `own_app`."""
    return _known(developer, _OWN_BY_SLUG.rows(limit=1, person=developer.pk, slug=slug))


def own_app_and_others(developer: User, slug: str, *, most: int) -> tuple[App, list[tuple[str, str]]]:
    """The same and `names_of_own_apps`, in one round trip."""
    key = {"person": developer.pk, "slug": slug}
    apps, names = rows_of_each(
        (_OWN_BY_SLUG, key | {"limit": 1}), (_OWN_NAMES, key | {"limit": most}), prepared=keeps_statements()
    )
    return _known(developer, apps), names


def _known(developer: User, apps: list[App]) -> App:
    if not apps:
        raise NotFound("App not found")
    return with_known_owner(developer, apps[0])


def names_of_own_apps(developer: User, *, without: App, most: int) -> list[tuple[str, str]]:
    """Name and slug of the newest ones."""
    return _OWN_NAMES.rows(limit=most, person=developer.pk, slug=without.slug)


# Every page of an app asks these.
_PERSON: Final[Any] = Param("person", UUIDField())
_OWN_BY_SLUG: Final = Compiled(
    lambda: own_apps(_PERSON).filter(slug=Param("slug", CharField())), prepared_as="marketplace_own_app"
)
_OWN_NAMES: Final = Compiled(
    lambda: (
        own_apps(_PERSON)
        .exclude(slug=Param("slug", CharField()))
        .select_related(None)
        .values_list("name", "slug")
    ),
    prepared_as="marketplace_own_names",
)


NEWEST_TURNS: Final = 60


@dataclass(frozen=True, slots=True)
class ConversationEntry:
    """A message, or a step of the review, in the conversation about an app."""

    at: datetime
    submission: Submission | None
    author: User | None
    text: str
    from_reviewer: bool = False
    step: ReviewKind | None = None  # None: a message


def conversation_about(app: App, *, for_reviewers: bool) -> list[ConversationEntry]:
    """The newest messages and steps, oldest first.

    Developers see submissions and decisions, with the notes of the decision. Reviewers see every step with its entry in
    the log.
    """
    messages = ReviewMessage.objects.filter(submission__app=app).select_related("submission", "author")
    turns = [
        ConversationEntry(each.at, each.submission, each.author, each.text, each.from_reviewer)
        for each in messages.order_by("-at", "-id")[:NEWEST_TURNS]
    ]
    log = app.review_log.select_related("submission", "actor").order_by("-at", "-id")
    if not for_reviewers:
        log = log.filter(kind__in=SHOWN_TO_DEVELOPERS, submission__isnull=False)
    for entry in log[:NEWEST_TURNS]:
        kind = ReviewKind(entry.kind)
        is_decision = kind in (ReviewKind.APPROVED, ReviewKind.REJECTED)
        decided = entry.submission.notes if entry.submission and is_decision else ""
        text = entry.note if for_reviewers else decided
        turns.append(ConversationEntry(entry.at, entry.submission, entry.actor, text, step=kind))
    return sorted(turns, key=lambda turn: turn.at)[-NEWEST_TURNS:]


SHOWN_TO_DEVELOPERS: Final = (
    ReviewKind.SUBMITTED,
    ReviewKind.APPROVED,
    ReviewKind.REJECTED,
    ReviewKind.WITHDRAWN,
)


def with_unanswered(submissions: "QuerySet[Submission]") -> "QuerySet[Submission]":
    """Annotate `unanswered`: whether the newest message is the developer's."""
    newest = ReviewMessage.objects.filter(submission=OuterRef("pk")).order_by("-at", "-id")
    last = Subquery(newest.values("from_reviewer")[:1])
    return submissions.annotate(unanswered=Case(When(Exact(last, False), then=True), default=False))

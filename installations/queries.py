"""Reading installations."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import Count, DateTimeField, Exists, OuterRef, QuerySet, UUIDField

from accounts.access import stores_of
from accounts.enums import Role, StoreRole
from accounts.models import Business, BusinessQuerySet, User
from common.db.compiled import Compiled, Param
from common.db.rows import first_or_not_found, get_or_not_found
from common.secrets import digest
from installations.enums import CHANGES_ACCESS, GRANTING, HistoryKind
from installations.models import HistoryEntry, Installation, InstallationQuerySet, with_versions
from marketplace.access import may_develop
from marketplace.enums import AppStatus, ReleaseState
from marketplace.models import App, AppVersion, Release
from marketplace.queries import kept_versions
from marketplace.scopes import in_order

MAY_REVIEW: Final = "marketplace.change_submission"


def sandbox_installation(*, app: App, developer: User) -> Installation | None:
    """The active installation of an app on the developer's sandbox store."""
    found = _ON_SANDBOX.first(app=app.pk, developer=developer.pk)
    if found is not None:
        found.app = app
    return found


_DEVELOPER: Final[Any] = Param("developer", UUIDField())
_ON_SANDBOX: Final = Compiled(
    lambda: (
        Installation.objects.active()
        .select_related("business")
        .filter(app=Param("app", UUIDField()), business__in=Business.objects.sandboxes_of(_DEVELOPER))
        .order_by("pk")
    ),
    prepared_as="installations_on_sandbox",
)


def review_installation(*, app: App, reviewer: User) -> Installation | None:
    """The active test install of an app in review on the reviewer's store."""
    active = Installation.objects.active().with_app()
    return active.filter(app=app, business__in=Business.objects.owned_by(reviewer), is_review=True).first()


def installation_of_token(*, token: str, app: App) -> Installation | None:
    """The active installation of this app that an access token belongs to."""
    return Installation.objects.active().filter(token_digest=digest(token), app=app).first()


def offered(*, app: App, user: User) -> App | AppVersion | None:
    """What this person would install: the working copy or the approved version. None if they may not (contract, section 3).

    Developers install their own app's working copy in any status, and reviewers on their test stores what is in review.
    Everyone else installs the approved version of a listed app.
    """
    if not app.is_usable():
        return None
    if user.is_developer and may_develop(app, user):
        return app
    if user.role == Role.REVIEWER:
        return app if app.status == AppStatus.PENDING_REVIEW and user.has_perm(MAY_REVIEW) else None
    return app.approved_version if installs_listed_apps(user) else None


def installs_listed_apps(user: User) -> bool:
    return user.is_merchant or user.is_developer


def businesses_to_install_on(user: User) -> BusinessQuerySet:
    """Those that they own or manage, oldest first. Only merchants have other stores than sandboxes."""
    return stores_of(user, StoreRole.MANAGER).order_by("created_at", "id")


def has_store_without(installations: Collection[Installation], user: User) -> bool:
    """Whether the person may install an app once more, besides these, which are all that they have of it."""
    taken = {each.business_id for each in installations}
    return installs_listed_apps(user) and businesses_to_install_on(user).exclude(pk__in=taken).exists()


def installations_of(business: Business) -> InstallationQuerySet:
    """A business's installations, ended ones too, newest first, with their apps. Secrets are not read."""
    found = Installation.objects.select_related(*with_versions()).defer("webhook_secret")
    return found.filter(business=business).order_by("-id")


def running_app(business: Business, slug: str) -> Installation:
    """An app that runs in a store. Raises `NotFound`."""
    running = Installation.objects.running().select_related("app").filter(business=business, app__slug=slug)
    return first_or_not_found(running, "This app doesn't run in the store.")


def owners_of(business: Business, slugs: Collection[str]) -> dict[str, str]:
    """The ids of installed apps, as `stores` names the owner of a payment or an attribute, by their slugs."""
    rows = Installation.objects.active().filter(business=business, app__slug__in=slugs)
    return {slug: str(app_id) for slug, app_id in rows.values_list("app__slug", "app_id")} if slugs else {}


def own_installation(stores: Collection[Business], installation_id: object) -> Installation:
    """An installation in one of these stores, ended ones too. Raises `NotFound`."""
    rows = Installation.objects.with_app().select_related("app__developer", "installed_by")
    return get_or_not_found(rows.filter(business__in=stores), installation_id, "App not found")


def history_of(installation: Installation) -> QuerySet[HistoryEntry]:
    """Its entries, oldest first, with their actors."""
    return installation.history.select_related("actor").order_by("at", "id")


def granted_by(installation: Installation) -> dict[str, HistoryEntry]:
    """For each granted scope, the history entry since which it has been granted without a break, with its actor."""
    since: dict[str, HistoryEntry] = {}
    for entry in _GRANTING.rows(installation=installation.pk):
        since = {scope: since.get(scope, entry) for scope in entry.scopes}
    return since


_GRANTING: Final = Compiled(
    lambda: (
        HistoryEntry.objects.filter(installation=Param("installation", UUIDField()), kind__in=GRANTING)
        .select_related("actor")
        .order_by("at", "id")
    ),
    prepared_as="installations_granting",
)


def stores_at(version: AppVersion) -> InstallationQuerySet:
    """The production installations that were active when a version was approved and still are (contract, section 10).

    Not those on sandboxes of the app's own developers, nor those that this approval converted.
    """
    converted = HistoryEntry.objects.filter(
        installation=OuterRef("pk"), kind=HistoryKind.CONVERTED, at__gte=version.approved_at
    )
    active = Installation.objects.active().filter(app=version.app_id, installed_at__lte=version.approved_at)
    return active.filter(~Exists(converted), is_test=False, is_review=False, is_own=False)


class Offers:
    """What stores were asked about, by time: the approved versions of an app. One that was taken back is offered until then."""

    def __init__(self, app: App) -> None:
        self._versions = list(
            AppVersion.objects.filter(app=app).select_related("release").order_by("-number")
        )

    def to(self, installation: Installation, moment: datetime) -> set[str]:
        """The scopes of the version that its merchant was asked about then."""
        offered = (each for each in self._versions if _is_offered(each, installation, moment))
        return {scope for each in islice(offered, 1) for scope in each.scopes}


def _is_offered(version: AppVersion, installation: Installation, moment: datetime) -> bool:
    """In a release in steps, from the step in which the store came to the version."""
    release: Release | None = getattr(version, "release", None)
    since, came = version.approved_at, installation.followed_at
    if release is not None:
        over = release.ended_at
        if release.state == ReleaseState.TAKEN_BACK and over is not None and over <= moment:
            return False
        follows = version.pk == installation.runs_id
        if follows and came is not None and release.started_at < came and (over is None or came <= over):
            since = came
    return since <= moment


@dataclass(frozen=True, slots=True)
class AskedScopes:
    """The scopes that an app asks a store for, each with the version since which it has asked for it; and why."""

    since: dict[str, str]
    reason: str


def asked_since(installation: Installation, scopes: Collection[str] | None = None) -> AskedScopes:
    """Since when the app asks for these scopes of its version, by default for those that the store is asked for. One statement.

    The reason may belong to an earlier version than the one that the store runs, because later ones may not have changed the
    scopes; it is empty if none was given. Newer versions, and those that were taken back, don't count.
    """
    waiting = set(installation.asked_scopes if scopes is None else scopes)
    runs = installation.runs
    since: dict[str, str] = {}
    found = ""
    rows: Iterable[Any] = ()
    if waiting and runs is not None:
        versions = kept_versions(installation.app_id).filter(number__lte=runs.number)
        rows = versions.values_list("version", "scopes", "scope_reason")
    for version, its_scopes, reason in rows:
        waiting &= set(its_scopes)
        if not waiting:
            break
        since |= dict.fromkeys(waiting, version)
        found = found or reason
    return AskedScopes({name: since[name] for name in in_order(since)}, found)


def scope_reason(installation: Installation) -> str:
    """The developer's reason for asking for more; empty if none was given."""
    return asked_since(installation).reason


@dataclass(frozen=True, slots=True)
class Affected:
    """How many installations an approval would change."""

    tests: int  # become production installs
    to_agree: int  # keep their old scopes until somebody agrees to more


def affected_by_approval(app: App, added_scopes: Collection[str]) -> Affected:
    """Counted in advance, for developers and reviewers. Installations that lack one of `added_scopes` have to agree."""
    active = Installation.objects.active().filter(app=app, is_review=False)
    added, groups = set(added_scopes), active.filter(is_test=False).values_list("granted_scopes")
    return Affected(
        tests=active.filter(is_test=True, business__is_connected=False).count(),
        to_agree=sum(number for granted, number in groups.annotate(Count("id")) if added - set(granted)),
    )


class UninstallReason(NamedTuple):
    note: str
    at: datetime
    store: str


def reasons_of(app: App, since: datetime, *, most: int) -> list[UninstallReason]:
    """Why merchants uninstalled the app, newest first, with their stores. Most say nothing."""
    return [UninstallReason(*row) for row in _REASONS.rows(limit=most, app=app.pk, since=since)]


_REASONS: Final = Compiled(
    lambda: (
        HistoryEntry.objects.filter(
            installation__app=Param("app", UUIDField()),
            installation__uninstalled_at__gte=Param("since", DateTimeField()),
            installation__is_test=False,
            installation__business__is_sandbox=False,
            kind=HistoryKind.UNINSTALLED,
        )
        .exclude(note="")
        .order_by("-at")
        .values_list("note", "at", "installation__business__name")
    )
)


def scopes_since(installations: Sequence[Installation], since: datetime) -> dict[UUID, set[str]]:
    """The scopes that each installation's token had at any time from `since` on. One statement.

    They are read by `Installation.objects.with_app()`. The history alone says it: whatever gives or takes a scope has its entry
    there, a consent as well as an approval, a release that was halted, and a version that was taken back. A pause or a suspension
    doesn't count: it ends, and then the token reads all that there is.
    """
    entries = HistoryEntry.objects.filter(
        installation__in=[each.pk for each in installations], kind__in=CHANGES_ACCESS
    )
    changes: dict[UUID, list[tuple[datetime, list[str]]]] = defaultdict(list)
    for pk, at, scopes in entries.order_by("at", "id").values_list("installation_id", "at", "scopes"):
        changes[pk].append((at, scopes))
    found = {}
    for each in installations:
        had = set(each.effective_scopes) if each.is_active else set()
        until = each.uninstalled_at
        for at, scopes in reversed(changes[each.pk]):  # each holds until the next one
            if until is None or until >= since:
                had.update(scopes)
            until = at
        found[each.pk] = had
    return found

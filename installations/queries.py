"""Reading installations."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet

from accounts.models import Business, BusinessQuerySet, User
from common.errors import NotFound
from common.ids import parse_id
from common.secrets import digest
from installations.enums import GRANTING
from installations.models import HistoryEntry, Installation, InstallationQuerySet
from marketplace.models import App, AppVersion
from marketplace.scopes import in_order


def sandbox_installation(*, app: App, developer: User) -> Installation | None:
    """The active installation of an app on the developer's own sandbox."""
    return (
        Installation.objects.active()
        .with_app()
        .filter(app=app, business__owner=developer, business__is_sandbox=True)
        .first()
    )


def installation_of_token(*, token: str, app: App) -> Installation | None:
    """The active installation of this app that an access token belongs to."""
    return Installation.objects.active().filter(token_digest=digest(token), app=app).first()


def offered(*, app: App, user: User) -> App | AppVersion | None:
    """The state of an app in which this person would install it; None where they may not (contract section 3).

    To its own developer the working copy, whatever its status; to other developers and to merchants the
    approved version of a listed app.
    """
    if app.deleted_at is not None or app.suspended_at is not None:
        return None
    if user.is_developer and app.developer_id == user.pk:
        return app
    return app.approved_version if user.is_developer or user.is_merchant else None


def businesses_to_install_on(user: User) -> BusinessQuerySet:
    """A merchant's businesses, oldest first; of a developer's always the sandbox alone."""
    owned = Business.objects.owned_by(user).order_by("created_at", "id")
    return owned.filter(is_sandbox=True) if user.is_developer else owned


def installations_of(business: Business) -> InstallationQuerySet:
    """All that a business has and had, newest first, with their apps. Secrets are not read."""
    found = Installation.objects.with_app().select_related("app__developer").defer("webhook_secret")
    return found.filter(business=business).order_by("-id")


def own_installation(user: User, installation_id: object) -> Installation:
    """One on a business of this person, active or not. Raises `NotFound`: another's, or no id at all."""
    known_id = parse_id(installation_id)
    own = Installation.objects.with_app().select_related("app__developer").of_owner(user)
    found = own.filter(pk=known_id).first() if known_id else None
    if found is None:
        raise NotFound("App not found")
    return found


def history_of(installation: Installation) -> QuerySet[HistoryEntry]:
    """What happened, the oldest first, with whose act it was."""
    return installation.history.select_related("actor").order_by("at", "id")


def granted_by(installation: Installation) -> dict[str, HistoryEntry]:
    """For each scope that is granted: the entry of the history by which it has been so, without a break."""
    since: dict[str, HistoryEntry] = {}
    for entry in history_of(installation).filter(kind__in=GRANTING):
        since = {scope: since.get(scope, entry) for scope in entry.scopes}
    return since


class Offers:
    """What an app's approvals offered, by time."""

    def __init__(self, app: App) -> None:
        versions = AppVersion.objects.filter(app=app).order_by("-number")
        self._offers = [(at, set(scopes)) for at, scopes in versions.values_list("approved_at", "scopes")]

    def at(self, moment: datetime) -> set[str]:
        return next((scopes for approved_at, scopes in self._offers if approved_at <= moment), set())

    def lacked_by(self, installation: Installation) -> set[str]:
        """What it was not granted and was not left out by choice.

        Only what could be chosen when its terms were agreed to, and was not, was left out. What was chosen and taken
        away is lacking.
        """
        missing = set(installation.missing_scopes)
        if installation.narrowed_scopes is None:
            return missing
        return missing - (self.at(installation.consented_at) - set(installation.narrowed_scopes))


def asked_scopes(installation: Installation) -> list[str]:
    """What its merchant is asked for: what it lacks, without what the app itself left out."""
    if installation.narrowed_scopes is None:
        return installation.missing_scopes
    return in_order(Offers(installation.app).lacked_by(installation))


def scope_reason(installation: Installation) -> str:
    """Why the app asks for more, in its developer's words; empty where none were given.

    The newest approval need not be the one that asked: others may have followed that left the scopes alone.
    """
    asked = set(asked_scopes(installation))
    versions = AppVersion.objects.filter(app=installation.app_id).order_by("-number")
    for scopes, reason in versions.values_list("scopes", "scope_reason"):
        if reason or not asked & set(scopes):
            return reason if asked & set(scopes) else ""
    return ""


@dataclass(frozen=True, slots=True)
class Affected:
    """The installations that an approval would change."""

    tests: int  # become production installs
    to_agree: int  # keep their old scopes until somebody agrees to more


def affected_by_approval(app: App, added_scopes: Collection[str]) -> Affected:
    """Counted beforehand, for who submits and who approves: to agree have those that lack one of `added_scopes`."""
    active = Installation.objects.active().filter(app=app)
    added, groups = set(added_scopes), active.filter(is_test=False).values_list("granted_scopes")
    return Affected(
        tests=active.filter(is_test=True).count(),
        to_agree=sum(number for granted, number in groups.annotate(Count("id")) if added - set(granted)),
    )

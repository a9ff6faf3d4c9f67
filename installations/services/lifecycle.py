"""Install, new token, new terms, pause, settings, uninstall. Settings are opaque here: `extensions` knows their schema and validates them.

The access token in clear exists only in what `install` and `issue_token` return; the row has its digest. The order of
locks is that of `marketplace.services.locks`.
"""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from accounts.access import require_role
from accounts.models import Business, User
from common.errors import Conflict
from common.secrets import digest, last_four, new_access_token, new_webhook_secret
from installations import signals
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import history
from marketplace.models import App, AppVersion
from marketplace.scopes import in_order

# The columns that a consent decides, and those of a token.
TERMS = (
    "is_test", "is_own", "granted_scopes", "narrowed_scopes", "left_out_scopes", "agreed_version_id",
    "needs_reconsent", "reconsent_declined_at", "runs_id",
)  # fmt: skip
CONSENT = (*TERMS, "followed_at", "earlier_agreed_version_id", "lost_scopes", "consented_at")
TOKEN = ("token_digest", "ended_token_digest", "token_hint", "token_issued_at")


@dataclass(frozen=True, slots=True)
class Issued:
    """An installation with its access token in clear, to be shown once."""

    installation: Installation
    access_token: str

    @property
    def webhook_secret(self) -> str:
        return self.installation.webhook_secret


@dataclass(frozen=True, slots=True)
class Terms:
    """What a consent decides about an installation.

    `consented_at` is when somebody agreed, `agreed_version` the approved version whose reach they were shown; None: now, and
    the one that the store runs. `left_out_scopes` are those that were shown, too, and that the app did not name. `is_review`: a
    reviewer or a check tries the working copy, `is_own`: a developer of the app does.
    """

    is_test: bool
    granted_scopes: Sequence[str]
    narrowed_scopes: Sequence[str] | None = None
    left_out_scopes: Sequence[str] = ()
    consented_at: datetime | None = None
    agreed_version: AppVersion | None = None
    is_review: bool = False
    is_own: bool = False


def working_copy_terms(app: App, scopes: Sequence[str] | None, *, is_review: bool = False) -> Terms:
    """Of a test install of the working copy, with all its scopes or only `scopes`: a developer's or a reviewer's."""
    granted = app.scopes if scopes is None else scopes
    return Terms(True, granted, scopes, is_review=is_review, is_own=not is_review)


@transaction.atomic(savepoint=False)
def install(
    *,
    app: App,
    business: Business,
    installed_by: User,
    terms: Terms,
    now: datetime | None = None,
) -> Issued:
    """Install an app in a store, or give the existing installation new terms. Both give a new token.

    The previous token stops working, the webhook secret stays. Safe against parallel calls: the lock on the business
    allows one active installation of an app in a store.
    """
    now = now or timezone.now()
    Business.objects.select_for_update(no_key=True).get(pk=business.pk)
    active = Installation.objects.active().filter(app=app, business=business)
    installation = active.with_app().select_for_update(of=("self",), no_key=True).first()
    if installation is None:
        return _create(app, business, installed_by, terms, now)
    return _renew(installation, installed_by, terms, now)


@transaction.atomic
def issue_token(*, installation: Installation, now: datetime) -> Issued:
    """Give an active installation a new access token. The previous one stops working with the commit.

    Raises `Conflict` if the installation has ended.
    """
    found = locked(installation)
    token = _set_token(found, now)
    found.save(update_fields=TOKEN)
    return Issued(found, token)


@transaction.atomic
def uninstall(
    *, installation: Installation, by: User | None = None, reason: str = "", now: datetime | None = None
) -> Installation:
    """End an installation: with the commit its token stops working and its parts leave the store.

    `by` is None if the app or the platform did it. `reason` is the merchant's, for the app's developer. Raises `Conflict` if it has ended already.
    """
    now = now or timezone.now()
    ended = locked(installation)
    _end_token(ended)
    ended.uninstalled_at = now
    ended.save(update_fields=["token_digest", "ended_token_digest", "uninstalled_at"])
    history.record(installation=ended, kind=HistoryKind.UNINSTALLED, at=now, by=by, note=reason)
    signals.installation_removed.send(Installation, installation=ended, now=now)
    return ended


def change_terms(*, installation: Installation, terms: Terms, by: User, now: datetime) -> None:
    """Give a locked installation new terms; its token stays. Equal terms only get a new date.

    For a test install the history records equal terms, too: an approval doesn't convert test installs that were agreed
    to after it.
    """
    before, could, was = _terms_of(installation), installation.effective_scopes, copy(installation)
    agreed = installation.agreed_version_id
    _put(terms, installation, now)
    installation.save(update_fields=CONSENT)
    if _terms_of(installation) != before:
        agrees_to_more = agreed not in (None, installation.agreed_version_id)
        _announce_change(installation, could, now, by=by, agrees_to_more=agrees_to_more)
        _announce_merchant(installation, was, now)
    elif installation.is_test:
        history.record(installation=installation, kind=HistoryKind.TERMS_CHANGED, at=now, by=by)


def end_token(*, installation: Installation, now: datetime) -> None:
    """Revoke the token of a locked installation. The app stays installed and can be authorized again."""
    _end_token(installation)
    installation.save(update_fields=["token_digest", "ended_token_digest"])
    history.record(installation=installation, kind=HistoryKind.TOKEN_ENDED, at=now)


def follow_version(installation: Installation, version: AppVersion, at: datetime) -> None:
    """Let a locked installation run a version from a moment on, and remember what it had agreed to before. The caller saves it."""
    installation.earlier_agreed_version_id = installation.agreed_version_id
    installation.runs, installation.followed_at = version, at


def _create(app: App, business: Business, by: User, terms: Terms, now: datetime) -> Issued:
    made = Installation(
        app=app, business=business, installed_by=by, installed_at=now, is_review=terms.is_review
    )
    made.runs, made.followed_at = app.approved_version, now
    _put(terms, made, now)
    made.webhook_secret = new_webhook_secret(test=terms.is_test)
    token = _set_token(made, now)
    made.save(force_insert=True)
    history.record(installation=made, kind=HistoryKind.INSTALLED, at=now, by=by)
    signals.installation_created.send(Installation, installation=made, now=now)
    return Issued(made, token)


def _renew(installation: Installation, by: User, terms: Terms, now: datetime) -> Issued:
    could, was = installation.effective_scopes, copy(installation)
    _put(terms, installation, now)
    token = _set_token(installation, now)
    installation.save(update_fields=[*CONSENT, *TOKEN])
    _announce_change(installation, could, now, by=by)
    _announce_merchant(installation, was, now)
    return Issued(installation, token)


def _terms_of(installation: Installation) -> list[object]:
    return [getattr(installation, name) for name in TERMS]


def _put(terms: Terms, installation: Installation, now: datetime) -> None:
    if terms.agreed_version is not None:
        _come_in(installation, terms.agreed_version, now)
        terms = _with_earlier(terms, installation, terms.agreed_version)
    narrowed = terms.narrowed_scopes
    installation.is_test, installation.is_own = terms.is_test, terms.is_own
    installation.granted_scopes = in_order(terms.granted_scopes)
    installation.narrowed_scopes = None if narrowed is None else in_order(narrowed)
    installation.left_out_scopes, installation.lost_scopes = in_order(terms.left_out_scopes), {}
    agreed = terms.agreed_version or installation.runs
    installation.agreed_version = None if installation.runs_working_copy else agreed
    is_asked = not terms.is_test or installation.is_in_test_shop
    installation.needs_reconsent = bool(installation.asked_scopes) and is_asked
    installation.reconsent_declined_at = None
    installation.consented_at = terms.consented_at or now


def _come_in(installation: Installation, version: AppVersion, now: datetime) -> None:
    """A store whose merchant agreed to the newest version runs it, also before its step of a release. None comes in while that is halted."""
    app = installation.app
    is_newest = version.pk == app.approved_version_id and app.rolling_version_id in (None, version.pk)
    if is_newest and installation.runs_id != version.pk:
        follow_version(installation, version, now)


def _with_earlier(terms: Terms, installation: Installation, shown: AppVersion) -> Terms:
    """The terms besides what the store agreed to of the version that it runs. While a release is halted, merchants are shown the version
    before, also where the store is in. Scopes that the app named are all that it has.
    """
    granted = set(terms.granted_scopes)
    if terms.narrowed_scopes is None:
        granted |= set(installation.granted_scopes) & set(installation.approved_scopes)
    agreed = installation.runs if installation.agreed_version_id and not installation.is_behind else shown
    return replace(terms, granted_scopes=in_order(granted), agreed_version=agreed)


def _announce_change(
    installation: Installation,
    could: Sequence[str],
    now: datetime,
    *,
    by: User,
    agrees_to_more: bool = False,
) -> None:
    added = in_order(set(installation.effective_scopes) - set(could))
    kind = HistoryKind.AGREED if added or agrees_to_more else HistoryKind.TERMS_CHANGED
    history.record(installation=installation, kind=kind, at=now, by=by, note=", ".join(added))
    signals.installation_changed.send(Installation, installation=installation, now=now)


def _announce_merchant(installation: Installation, was: Installation, now: datetime) -> None:
    signals.merchant_changed.send(Installation, installation=installation, before=was, now=now)


def _set_token(installation: Installation, now: datetime) -> str:
    token = new_access_token(test=installation.is_test)
    _end_token(installation)
    installation.token_digest = digest(token)
    installation.token_hint = last_four(token)
    installation.token_issued_at = now
    return token


def _end_token(installation: Installation) -> None:
    if installation.token_digest is not None:
        installation.token_digest, installation.ended_token_digest = None, installation.token_digest


def locked(installation: Installation) -> Installation:
    """The active installation as it is now, locked, with app and business. Raises `Conflict` if it has ended."""
    found = (
        Installation.objects.active()
        .with_app()
        .select_for_update(of=("self",), no_key=True)
        .filter(pk=installation.pk)
        .first()
    )
    if found is None:
        raise Conflict("The app is no longer installed.", code="not_installed")
    return found


# --- Pause -------------------------------------------------------------------------------------------

# While `Installation.paused_at` is set, nothing of the app runs in the store and its token is refused. Every reader looks
# at the column when it needs to know, so a pause is in force with its commit. Webhook deliveries are held until the app
# is resumed or uninstalled; data erasures are sent all the same (contract, section 6, "Pause").


@transaction.atomic
def pause(*, installation: Installation, user: User, now: datetime | None = None) -> Installation:
    """Pause the app. A paused app stays as it is.

    Raises `Conflict` if the app is not installed any more, `NotAllowed` for another person's store.
    """
    found, now = _locked(installation, user), now or timezone.now()
    if found.paused_at is None:
        was, found.paused_at = copy(found), now
        found.save(update_fields=["paused_at"])
        history.record(installation=found, kind=HistoryKind.PAUSED, at=now, by=user)
        signals.installation_paused.send(Installation, installation=found, now=now)
        _announce_merchant(found, was, now)
    return found


@transaction.atomic
def resume(*, installation: Installation, user: User, now: datetime | None = None) -> Installation:
    """Let a paused app run again; what was held for it is sent. A running app stays as it is. Raises like `pause`."""
    found, now = _locked(installation, user), now or timezone.now()
    if found.paused_at is not None:
        was, found.paused_at = copy(found), None
        found.save(update_fields=["paused_at"])
        history.record(installation=found, kind=HistoryKind.RESUMED, at=now, by=user)
        signals.installation_resumed.send(Installation, installation=found, now=now)
        _announce_merchant(found, was, now)
    return found


def _locked(installation: Installation, user: User) -> Installation:
    found = locked(installation)
    require_role(found.business, user, to="pause and resume its apps")
    return found


@transaction.atomic
def keep_settings(
    *,
    installation: Installation,
    values: dict[str, Any],
    before: dict[str, Any] | None = None,
    now: datetime | None = None,
) -> Installation:
    """Replace the values. Raises `Conflict` if the app is not installed any more, or they are no longer those of `before`."""
    found = locked(installation)
    require_unchanged(found.settings, values, before)
    was, found.settings = copy(found), values
    found.save(update_fields=["settings"])
    _announce_merchant(found, was, now or timezone.now())
    return found


def require_unchanged(now: dict[str, Any], values: dict[str, Any], before: dict[str, Any] | None) -> None:
    """Raises `Conflict` if somebody else saved other values since `before` was read."""
    if before is not None and now not in (before, values):
        raise Conflict("These settings were saved in another window at this moment. Press Save again.")

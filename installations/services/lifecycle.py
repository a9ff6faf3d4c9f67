"""An installation from its first token to its end.

The raw access token exists only in what `install` and `issue_token` return: the row keeps its digest.
Locks are taken in the order app, business, installation.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import Business, User
from common.errors import Conflict
from common.secrets import digest, hint, new_access_token, new_webhook_secret
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import history
from installations.signals import installation_changed, installation_created, installation_removed
from marketplace.models import App
from marketplace.scopes import in_order

# The columns that a consent settles, and those of a token.
TERMS = ("is_test", "granted_scopes", "narrowed_scopes", "needs_reconsent", "reconsent_declined_at")
CONSENT = (*TERMS, "consented_at")
TOKEN = ("token_digest", "token_hint", "token_issued_at")


@dataclass(frozen=True, slots=True)
class Issued:
    """An installation with its credentials in clear, to be shown once."""

    installation: Installation
    access_token: str

    @property
    def webhook_secret(self) -> str:
        return self.installation.webhook_secret


@dataclass(frozen=True, slots=True)
class Terms:
    """What a consent settles about an installation."""

    is_test: bool
    granted_scopes: Sequence[str]
    narrowed_scopes: Sequence[str] | None = None
    needs_reconsent: bool = False
    consented_at: datetime | None = None  # now, where nothing else is said


@transaction.atomic(savepoint=False)
def install(
    *,
    app: App,
    business: Business,
    installed_by: User,
    is_test: bool,
    granted_scopes: Sequence[str],
    narrowed_scopes: Sequence[str] | None = None,
    needs_reconsent: bool = False,
    consented_at: datetime | None = None,
    now: datetime | None = None,
) -> Issued:
    """Install an app on a business, or give the active installation new terms; a new token either way.

    `consented_at` is when somebody agreed to them, where that was before now.

    The former token dies, the webhook secret stays. Safe against parallel calls: the business's row is
    locked, so that one active installation per app and business is all there can be.
    """
    now = now or timezone.now()
    terms = Terms(is_test, granted_scopes, narrowed_scopes, needs_reconsent, consented_at)
    Business.objects.select_for_update(no_key=True).get(pk=business.pk)
    active = Installation.objects.active().filter(app=app, business=business)
    installation = active.with_app().select_for_update(of=("self",), no_key=True).first()
    if installation is None:
        return _create(app, business, installed_by, terms, now)
    return _renew(installation, installed_by, terms, now)


@transaction.atomic
def issue_token(*, installation: Installation, now: datetime | None = None) -> Issued:
    """Give an active installation a new access token; the one before fails from the commit on.

    Raises `Conflict` where the installation has ended.
    """
    found = locked(installation)
    token = _set_token(found, now or timezone.now())
    found.save(update_fields=TOKEN)
    return Issued(found, token)


@transaction.atomic
def uninstall(
    *, installation: Installation, by: User | None = None, now: datetime | None = None
) -> Installation:
    """End an installation: its token is dead and its parts are switched off with the commit.

    `by` is who did it; None where the app or the platform did.

    Raises `Conflict` where it has ended already.
    """
    now = now or timezone.now()
    ended = locked(installation)
    ended.token_digest = None
    ended.uninstalled_at = now
    ended.save(update_fields=["token_digest", "uninstalled_at"])
    history.record(installation=ended, kind=HistoryKind.UNINSTALLED, at=now, by=by)
    installation_removed.send(Installation, installation=ended, now=now)
    return ended


def change_terms(*, installation: Installation, terms: Terms, by: User, now: datetime) -> None:
    """Put new terms on a locked installation, on the token it has. The terms that it has already are only dated anew.

    A test install's history still says that it was agreed to: one agreed to after an approval stays what it is when
    the others are converted.
    """
    before, could = _terms_of(installation), installation.effective_scopes
    _put(terms, installation, now)
    installation.save(update_fields=CONSENT)
    if _terms_of(installation) != before:
        _tell_changed(installation, could, now, by=by)
    elif installation.is_test:
        history.record(installation=installation, kind=HistoryKind.TERMS_CHANGED, at=now, by=by)


def end_token(*, installation: Installation, now: datetime) -> None:
    """Take the token from a locked installation. The app stays installed, and may be authorized anew."""
    installation.token_digest = None
    installation.save(update_fields=["token_digest"])
    history.record(installation=installation, kind=HistoryKind.TOKEN_ENDED, at=now)


def _create(app: App, business: Business, by: User, terms: Terms, now: datetime) -> Issued:
    made = Installation(app=app, business=business, installed_by=by, installed_at=now)
    _put(terms, made, now)
    made.webhook_secret = new_webhook_secret(test=terms.is_test)
    token = _set_token(made, now)
    made.save(force_insert=True)
    history.record(installation=made, kind=HistoryKind.INSTALLED, at=now, by=by)
    installation_created.send(Installation, installation=made, now=now)
    return Issued(made, token)


def _renew(installation: Installation, by: User, terms: Terms, now: datetime) -> Issued:
    could = installation.effective_scopes
    _put(terms, installation, now)
    token = _set_token(installation, now)
    installation.save(update_fields=[*CONSENT, *TOKEN])
    _tell_changed(installation, could, now, by=by)
    return Issued(installation, token)


def _terms_of(installation: Installation) -> list[object]:
    return [getattr(installation, name) for name in TERMS]


def _put(terms: Terms, installation: Installation, now: datetime) -> None:
    narrowed = terms.narrowed_scopes
    installation.is_test = terms.is_test
    installation.granted_scopes = in_order(terms.granted_scopes)
    installation.narrowed_scopes = None if narrowed is None else in_order(narrowed)
    installation.needs_reconsent = terms.needs_reconsent
    installation.reconsent_declined_at = None
    installation.consented_at = terms.consented_at or now


def _tell_changed(installation: Installation, could: Sequence[str], now: datetime, *, by: User) -> None:
    added = in_order(set(installation.effective_scopes) - set(could))
    kind = HistoryKind.AGREED if added else HistoryKind.TERMS_CHANGED
    history.record(installation=installation, kind=kind, at=now, by=by, note=", ".join(added))
    installation_changed.send(Installation, installation=installation, now=now)


def _set_token(installation: Installation, now: datetime) -> str:
    token = new_access_token(test=installation.is_test)
    installation.token_digest = digest(token)
    installation.token_hint = hint(token)
    installation.token_issued_at = now
    return token


def locked(installation: Installation) -> Installation:
    """The active installation's row as it is now, with app and business. Raises `Conflict` where it has ended."""
    found = (
        Installation.objects.active()
        .with_app()
        .select_for_update(of=("self",), no_key=True)
        .filter(pk=installation.pk)
        .first()
    )
    if found is None:
        raise Conflict("The app is not installed any more.")
    return found

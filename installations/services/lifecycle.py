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


@dataclass(frozen=True, slots=True)
class Issued:
    """An installation with its credentials in clear, to be shown once."""

    installation: Installation
    access_token: str

    @property
    def webhook_secret(self) -> str:
        return self.installation.webhook_secret


@transaction.atomic
def install(
    *,
    app: App,
    business: Business,
    installed_by: User,
    is_test: bool,
    granted_scopes: Sequence[str],
    narrowed_scopes: Sequence[str] | None = None,
    now: datetime | None = None,
) -> Issued:
    """Install an app on a business, or give the active installation new terms; a new token either way.

    The former token dies, the webhook secret stays. Safe against parallel calls: the business's row is
    locked, so that one active installation per app and business is all there can be.
    """
    now = now or timezone.now()
    Business.objects.select_for_update(no_key=True).get(pk=business.pk)
    terms = {
        "is_test": is_test,
        "granted_scopes": list(granted_scopes),
        "narrowed_scopes": None if narrowed_scopes is None else list(narrowed_scopes),
    }
    active = Installation.objects.active().filter(app=app, business=business)
    installation = active.with_app().select_for_update(of=("self",), no_key=True).first()
    if installation is None:
        return _create(app, business, installed_by, terms, now)
    return _renew(installation, terms, now)


@transaction.atomic
def issue_token(*, installation: Installation, now: datetime | None = None) -> str:
    """Give an active installation a new access token; the one before fails from the commit on.

    Raises `Conflict` where the installation has ended.
    """
    locked = _locked(installation)
    token = _set_token(locked, now or timezone.now())
    locked.save(update_fields=["token_digest", "token_hint", "token_issued_at"])
    return token


@transaction.atomic
def uninstall(*, installation: Installation, now: datetime | None = None) -> Installation:
    """End an installation: its token is dead and its parts are switched off with the commit.

    Raises `Conflict` where it has ended already.
    """
    now = now or timezone.now()
    ended = _locked(installation)
    ended.token_digest = None
    ended.uninstalled_at = now
    ended.save(update_fields=["token_digest", "uninstalled_at"])
    history.record(installation=ended, kind=HistoryKind.UNINSTALLED, at=now)
    installation_removed.send(Installation, installation=ended, now=now)
    return ended


def _create(app: App, business: Business, by: User, terms: dict[str, object], now: datetime) -> Issued:
    is_test = bool(terms["is_test"])
    made = Installation(app=app, business=business, installed_by=by, installed_at=now, **terms)
    made.webhook_secret = new_webhook_secret(test=is_test)
    token = _set_token(made, now)
    made.save(force_insert=True)
    history.record(installation=made, kind=HistoryKind.INSTALLED, at=now)
    installation_created.send(Installation, installation=made, now=now)
    return Issued(made, token)


def _renew(installation: Installation, terms: dict[str, object], now: datetime) -> Issued:
    for name, value in terms.items():
        setattr(installation, name, value)
    installation.needs_reconsent = False
    token = _set_token(installation, now)
    installation.save(
        update_fields=[*terms, "needs_reconsent", "token_digest", "token_hint", "token_issued_at"]
    )
    history.record(installation=installation, kind=HistoryKind.TERMS_CHANGED, at=now)
    installation_changed.send(Installation, installation=installation, now=now)
    return Issued(installation, token)


def _set_token(installation: Installation, now: datetime) -> str:
    token = new_access_token(test=installation.is_test)
    installation.token_digest = digest(token)
    installation.token_hint = hint(token)
    installation.token_issued_at = now
    return token


def _locked(installation: Installation) -> Installation:
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

"""A merchant approves or declines what an installed app asks for: scopes, and the reach of its current version.

An approval takes effect at once, on the app's existing token (contract, section 3). The app doesn't have to do
anything.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.access import require_role
from accounts.models import User
from common.errors import Conflict, Invalid
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import history
from installations.services.lifecycle import Terms, change_terms, locked
from marketplace.data_terms import DataTerms
from marketplace.models import AppVersion
from marketplace.scopes import in_order
from marketplace.services.locks import lock_app


@transaction.atomic
def approve_scopes(
    *,
    installation: Installation,
    user: User,
    scopes: Sequence[str] | None = None,
    version: AppVersion | None = None,
    now: datetime | None = None,
) -> Installation:
    """Agree to everything that the app asks for now, or only to `scopes`. Returns the changed installation.

    `version` is the one that was shown. Agreeing to the current terms again changes and records nothing.

    Raises `Conflict` if the app is not installed any more or another version has been approved, `NotAllowed` for another
    person's store, `Invalid` for a scope that the app does not ask for.
    """
    lock_app(installation.app)  # no approval until this is written
    found = _locked(installation, user)
    if version is not None and version != found.runs:
        raise Conflict("The app has a newer version. Review what it asks for now.")
    offered = found.offered_scopes
    granted = offered if scopes is None else scopes
    if not set(granted) <= set(offered):
        raise Invalid.field("scopes", "The app does not ask for all of these permissions.")
    left_out = in_order(set(offered) - set(granted))
    terms = Terms(found.is_test, granted, left_out_scopes=left_out, is_own=found.is_own)
    change_terms(installation=found, terms=terms, by=user, now=now or timezone.now())
    return found


@transaction.atomic
def decline_scopes(*, installation: Installation, user: User, now: datetime | None = None) -> Installation:
    """Keep the app's scopes, scripts, widgets and hooks as the store agreed to them. Where its data goes, the app decides: the history
    says that the merchant didn't agree. They can still approve the request later.

    Raises `Conflict` if the app is not installed any more, `NotAllowed` for another person's store.
    """
    now = now or timezone.now()
    found = _locked(installation, user)
    is_new = found.is_behind and found.declined_version_id != found.runs_id
    if is_new or ((found.needs_reconsent or found.is_behind) and not found.rests_after_decline(now)):
        found.reconsent_declined_at, found.declined_version = now, found.runs
        found.save(update_fields=["reconsent_declined_at", "declined_version"])
        note = _not_agreed(found.runs.data_terms) if found.runs and found.asks_about_data else ""
        history.record(installation=found, kind=HistoryKind.DECLINED, at=now, by=user, note=note)
    return found


def _not_agreed(terms: DataTerms) -> str:
    return " ".join(["Not agreed to:", *terms.sentences])


def _locked(installation: Installation, user: User) -> Installation:
    found = locked(installation)
    require_role(found.business, user, to="agree to an app's permissions")
    return found

"""The merchant's yes or no to what an installed app asks for.

A yes takes effect at once, on the token that the app holds already (contract section 3): granted scopes
become the ones consented to. The app need not do anything.
"""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.models import User
from common.errors import Conflict, Invalid, NotAllowed
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import history
from installations.services.lifecycle import Terms, change_terms, locked
from marketplace.services.locks import lock_app


@transaction.atomic
def approve_scopes(
    *,
    installation: Installation,
    user: User,
    scopes: Sequence[str] | None = None,
    version: int | None = None,
    now: datetime | None = None,
) -> Installation:
    """Agree to all that the app offers now, or to `scopes` alone; the installation as it is afterwards.

    `version` is the approval that was shown. Terms are narrowed only where something was left out. To agree again
    to what stands changes and records nothing.

    Raises `Conflict` where the app is not installed any more or another version is approved by now, `NotAllowed` for
    somebody else's business, `Invalid` for a scope that the app does not ask for.
    """
    lock_app(installation.app)  # what is approved stays so until this is written
    found = _owned(installation, user)
    approved = found.app.approved_version
    if version is not None and (approved is None or approved.number != version):
        raise Conflict("The app has a newer version since it asked.")
    offered = found.app.scopes if found.follows_working_copy else found.app.approved_scopes
    granted = offered if scopes is None else scopes
    if not set(granted) <= set(offered):
        raise Invalid.field("scopes", "The app does not ask for all of these permissions.")
    narrowed = None if set(granted) == set(offered) else granted
    terms = Terms(found.is_test, granted, narrowed)
    change_terms(installation=found, terms=terms, by=user, now=now or timezone.now())
    return found


@transaction.atomic
def decline_scopes(*, installation: Installation, user: User, now: datetime | None = None) -> Installation:
    """Keep the app at what it was granted. It goes on working, and the question stays open to be answered.

    Raises `Conflict` where the app is not installed any more, `NotAllowed` for somebody else's business.
    """
    now = now or timezone.now()
    found = _owned(installation, user)
    if found.needs_reconsent and not found.rests_after_decline(now):
        found.reconsent_declined_at = now
        found.save(update_fields=["reconsent_declined_at"])
        history.record(installation=found, kind=HistoryKind.DECLINED, at=now, by=user)
    return found


def _owned(installation: Installation, user: User) -> Installation:
    found = locked(installation)
    if found.business.owner_id != user.pk:
        raise NotAllowed("Only the owner of the shop can agree to an app's permissions.")
    return found

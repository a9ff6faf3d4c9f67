"""Pausing an app in one store, and letting it run again.

While `Installation.paused_at` is set, nothing of the app runs in the store and its token is refused. Every reader looks
at the column when it needs to know, so a pause is in force with its commit. Webhook deliveries are held until the app
is resumed or uninstalled; data erasures are sent all the same (contract, section 6, "Pause").
"""

from datetime import datetime

from django.db import transaction
from django.utils import timezone

from accounts.access import require_role
from accounts.models import User
from installations.enums import HistoryKind
from installations.models import Installation
from installations.services import history
from installations.services.lifecycle import locked
from installations.signals import installation_paused, installation_resumed


@transaction.atomic
def pause(*, installation: Installation, user: User, now: datetime | None = None) -> Installation:
    """Pause the app. A paused app stays as it is.

    Raises `Conflict` if the app is not installed any more, `NotAllowed` for another person's store.
    """
    found, now = _locked(installation, user), now or timezone.now()
    if found.paused_at is None:
        found.paused_at = now
        found.save(update_fields=["paused_at"])
        history.record(installation=found, kind=HistoryKind.PAUSED, at=now, by=user)
        installation_paused.send(Installation, installation=found, now=now)
    return found


@transaction.atomic
def resume(*, installation: Installation, user: User, now: datetime | None = None) -> Installation:
    """Let a paused app run again; what was held for it is sent. A running app stays as it is. Raises like `pause`."""
    found, now = _locked(installation, user), now or timezone.now()
    if found.paused_at is not None:
        found.paused_at = None
        found.save(update_fields=["paused_at"])
        history.record(installation=found, kind=HistoryKind.RESUMED, at=now, by=user)
        installation_resumed.send(Installation, installation=found, now=now)
    return found


def _locked(installation: Installation, user: User) -> Installation:
    found = locked(installation)
    require_role(found.business, user, to="pause and resume its apps")
    return found

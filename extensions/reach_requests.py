"""What merchants are asked for since an approval that widened an app's reach (contract, section 2, "Reach").

The scopes that an approval added are asked for on the same page; `installations` knows those.
"""

from datetime import datetime

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from extensions.capabilities import Capability, capabilities_of
from extensions.models import ReachRequest
from installations.models import RECONSENT_REST, Installation, InstallationQuerySet


def requested_capabilities(installation: Installation) -> list[Capability]:
    """What the current version would add to this store after its merchant's yes. One query."""
    found = []
    for row in _requests_since(installation).select_related("definition"):
        row.definition.content = row.content
        found.append(row.definition)
    return capabilities_of(found)


def with_requests(installations: InstallationQuerySet) -> InstallationQuerySet:
    """As `asks_reach` on each: whether its merchant is asked for scripts, widgets, hooks or hosts."""
    requests = ReachRequest.objects.filter(version=OuterRef("agreed_version"), definition__is_active=True)
    return installations.annotate(asks_reach=Exists(requests))


def asking(installations: InstallationQuerySet, at: datetime | None = None) -> InstallationQuerySet:
    """The active ones whose merchant should be asked now, for scopes or reach: not within 14 days of a refusal, unless a later
    version asks.
    """
    live = with_requests(installations).active().filter(app__suspended_at=None, app__deleted_at=None)
    rested = Q(reconsent_declined_at=None) | Q(
        reconsent_declined_at__lte=(at or timezone.now()) - RECONSENT_REST
    )
    newer = Q(declined_version=None) | ~Q(declined_version=F("app__approved_version"))
    return live.filter(Q(needs_reconsent=True) & rested | Q(asks_reach=True) & (rested | newer))


def is_asked_now(installation: Installation, at: datetime, *, asks_reach: bool) -> bool:
    """Whether `asking` includes an installation, for one that is read already."""
    if not installation.is_active or installation.app.suspended_at or installation.app.deleted_at:
        return False
    rested = not installation.rests_after_decline(at)
    newer = installation.declined_version_id != installation.app.approved_version_id
    return (installation.needs_reconsent and rested) or (asks_reach and (rested or newer))


def asks_for_more(installation: Installation) -> bool:
    """Whether an installation's merchant has an open request: scopes or reach."""
    if installation.asks_for_consent:
        return True
    if not installation.is_active or installation.app.suspended_at or installation.app.deleted_at:
        return False
    return asks_reach(installation)


def asks_reach(installation: Installation) -> bool:
    """Whether its merchant is asked for reach. A statement, unless it was read by `with_requests`."""
    known: bool | None = getattr(installation, "asks_reach", None)
    return _requests_since(installation).exists() if known is None else known


def _requests_since(installation: Installation) -> QuerySet[ReachRequest]:
    return ReachRequest.objects.filter(version=installation.agreed_version_id, definition__is_active=True)

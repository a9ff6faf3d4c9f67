"""What merchants are asked for since an approval that widened an app's reach (contract, section 2, "Reach").

The scopes that an approval added are asked for on the same page; `installations` knows those.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Case, Exists, OuterRef, Q, When
from django.utils import timezone

from extensions.in_store.capabilities import Capability, capabilities_of
from extensions.models import ReachRequest
from installations.models import RECONSENT_REST, Installation, is_in_release, version_id_run


def requested_capabilities(installation: Installation) -> list[Capability]:
    """What the current version would add to this store after its merchant's yes. At most one query."""
    if not installation.is_behind:
        return []
    rows = ReachRequest.objects.filter(
        version=installation.agreed_version_id, in_release=installation.is_in_release
    )
    found = []
    for row in rows.select_related("definition"):
        row.definition.content = row.content
        found.append(row.definition)
    return capabilities_of(found)


@dataclass(frozen=True, slots=True)
class OpenRequest:
    """`is_now`: its merchant is asked now. After a no they aren't for 14 days, unless a later version asks for reach."""

    is_now: bool
    for_reach: bool


def open_requests(installations: Iterable[Installation], at: datetime | None = None) -> dict[UUID, bool]:
    """The installations whose merchants have an open request, for scopes or reach, by id: whether they are asked now. One query."""
    return {pk: each.is_now for pk, each in requests_of(installations, at).items()}


def requests_of(installations: Iterable[Installation], at: datetime | None = None) -> dict[UUID, OpenRequest]:
    """The open requests of installations, by id. One query."""
    rows = Installation.objects.usable().filter(pk__in=[each.pk for each in installations])
    requests = ReachRequest.objects.filter(version=OuterRef("agreed_version"), in_release=OuterRef("reached"))
    rested = Q(reconsent_declined_at=None) | Q(
        reconsent_declined_at__lte=(at or timezone.now()) - RECONSENT_REST
    )
    newer = ~Q(declined_version=version_id_run())
    rows = rows.alias(reached=is_in_release())
    asked = rows.annotate(asks_reach=Exists(requests)).filter(Q(needs_reconsent=True) | Q(asks_reach=True))
    is_now = Case(When(rested | Q(asks_reach=True) & newer, then=True), default=False)
    return {
        pk: OpenRequest(now, for_reach)
        for pk, now, for_reach in asked.values_list("pk", is_now, "asks_reach")
    }

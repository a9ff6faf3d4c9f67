"""What merchants are asked for since an approval that widened an app's reach (contract, section 2, "Reach"), or that keeps their data in
other ways than they agreed to (section 22).

The scopes that an approval added are asked for on the same page; `installations` knows those.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Case, DateTimeField, Exists, F, OuterRef, Q, When
from django.utils import timezone

from common.db.compiled import AmongIds, Compiled, Param
from extensions.in_store.capabilities import Capability, capabilities_of
from extensions.models import ReachRequest
from installations.models import RECONSENT_REST, Installation, is_in_release
from marketplace.data_terms import DataTerms


@dataclass(frozen=True, slots=True)
class Requested:
    """What a store is asked for besides scopes: what the version that it runs would add after a yes, and where its data goes (None: it
    isn't asked about that).
    """

    capabilities: list[Capability]
    data: DataTerms | None

    def __bool__(self) -> bool:
        return bool(self.capabilities or self.data)


def requested(installation: Installation) -> Requested:
    """At most one query."""
    if not installation.is_behind:
        return Requested([], None)
    rows = ReachRequest.objects.filter(
        version=installation.agreed_version_id, in_release=installation.is_in_release
    )
    return requested_by(rows.select_related("definition"))


def requested_by(rows: Iterable[ReachRequest]) -> Requested:
    """Of the rows of one store, with their definitions."""
    found, data = [], None
    for row in rows:
        if row.definition is None:
            data = DataTerms(**row.content)
        else:
            row.definition.content = row.content
            found.append(row.definition)
    return Requested(capabilities_of(found), data)


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
    ids = [each.pk for each in installations]
    rows = _ASKED.rows(ids=ids, rested=(at or timezone.now()) - RECONSENT_REST)
    return {pk: OpenRequest(is_now, for_reach) for pk, is_now, for_reach in rows}


def _asked() -> Any:
    requests = ReachRequest.objects.filter(version=OuterRef("agreed_version"), in_release=OuterRef("reached"))
    requests = requests.exclude(version=OuterRef("runs"))  # it follows a newer version in a moment
    rested = Q(reconsent_declined_at=None) | Q(reconsent_declined_at__lte=Param("rested", DateTimeField()))
    newer = ~Q(declined_version=F("runs"))
    rows = Installation.objects.usable().filter(AmongIds("id", "ids")).alias(reached=is_in_release())
    asked = rows.annotate(asks_reach=Exists(requests)).filter(Q(needs_reconsent=True) | Q(asks_reach=True))
    is_now = Case(When(rested | Q(asks_reach=True) & newer, then=True), default=False)
    return asked.values_list("pk", is_now, "asks_reach")


_ASKED: Final[Compiled[Any]] = Compiled(_asked, prepared_as="extensions_asked")

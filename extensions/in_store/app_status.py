"""The status of installed apps, by one rule for every page and mail that merchants see."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from common.db.compiled import AmongIds, Compiled
from extensions.in_store.capabilities import OpenRequest, requests_of
from extensions.models import Breaker, ExtensionState
from extensions.queries import defaults_of, documents_in, overlaid, settings_schema_in
from extensions.schemas import problems_of_values, without_misfits
from installations.models import Installation
from webhooks.queries import failing_since


class AppState(StrEnum):
    """What a merchant should know first. The first that applies counts."""

    UNINSTALLED = "UNINSTALLED"
    SUSPENDED = "SUSPENDED"
    PAUSED = "PAUSED"
    ASKS = "ASKS"
    TROUBLED = "TROUBLED"
    LACKS_SETTINGS = "LACKS_SETTINGS"
    WORKING = "WORKING"


# What a merchant can or should do something about.
NEEDING = (AppState.ASKS, AppState.TROUBLED, AppState.LACKS_SETTINGS)


@dataclass(frozen=True, slots=True)
class StoreAppStatus:
    """`failing_since`: since when updates don't reach the app. `breakers` are those of hooks whose last call failed.
    `has_request`: for more permissions, paused or not, and after a no, too; `asks_reach`: also for scripts, widgets, hooks or hosts, or
    about its data.
    `asks`: its merchant is asked now. `works_since`: of one that works, where something failed before that the page shows, too.
    """

    state: AppState
    failing_since: datetime | None = None
    breakers: tuple[Breaker, ...] = ()
    settings_schema: dict[str, Any] | None = None  # None: it has no settings
    lacks_settings: bool = False
    has_request: bool = False
    asks_reach: bool = False
    asks: bool = False
    works_since: datetime | None = None

    @property
    def skipped(self) -> list[Breaker]:
        """Of hooks that checkout skips."""
        return [each for each in self.breakers if each.open_until and not each.is_off]  # type: ignore[attr-defined]

    @property
    def needs_merchant(self) -> bool:
        return self.state in NEEDING

    @property
    def is_in_trouble(self) -> bool:
        return self.failing_since is not None or bool(self.skipped)


def statuses_of(
    installations: Sequence[Installation], now: datetime | None = None
) -> dict[UUID, StoreAppStatus]:
    """By installation id. Four statements for any number of installations, which are read by `with_app()`."""
    now = now or timezone.now()
    failing = failing_since(installations, now)
    breakers = _breakers(installations)
    asked = requests_of(installations, now)
    documents = documents_in(installations)
    return {
        each.pk: _status(
            each,
            failing.get(each.pk),
            tuple(breakers[each.pk]),
            request=asked.get(each.pk),
            document=documents[each.pk],
        )
        for each in installations
    }


def _status(
    installation: Installation,
    failing: datetime | None,
    breakers: tuple[Breaker, ...],
    *,
    request: OpenRequest | None,
    document: Mapping[str, Any],
) -> StoreAppStatus:
    status = StoreAppStatus(
        AppState.WORKING,
        failing,
        breakers,
        settings_schema=settings_schema_in(document),
        lacks_settings=lacks_settings(document, installation.settings),
        has_request=request is not None,
        asks_reach=request is not None and request.for_reach,
        asks=request is not None and request.is_now,
    )
    return replace(status, state=_state(installation, status))


def _state(installation: Installation, status: StoreAppStatus) -> AppState:
    if not installation.is_active:
        return AppState.UNINSTALLED
    if not installation.is_usable:
        return AppState.SUSPENDED
    if installation.paused_at:
        return AppState.PAUSED
    if status.asks:
        return AppState.ASKS
    if status.is_in_trouble:
        return AppState.TROUBLED
    return AppState.LACKS_SETTINGS if status.lacks_settings else AppState.WORKING


def lacks_settings(document: Mapping[str, Any], values: dict[str, Any]) -> bool:
    """Whether a manifest's `settingsSchema` doesn't accept the defaults with the merchant's values on top."""
    schema = settings_schema_in(document)
    if schema is None:
        return False
    return bool(
        problems_of_values(schema, overlaid(defaults_of(without_misfits(schema)), values), "settings")
    )


def _breakers(installations: Iterable[Installation]) -> dict[UUID, list[Breaker]]:
    """Of hooks in the manifest whose last call failed; `is_off` where the merchant has switched the hook off."""
    found: dict[UUID, list[Breaker]] = defaultdict(list)
    for row in _FAILED.rows(ids=[each.pk for each in installations]):
        found[row.installation_id].append(row)
    return found


def _failed() -> QuerySet[Breaker]:
    off = ExtensionState.objects.filter(
        installation=OuterRef("installation"), definition=OuterRef("definition"), is_on=False
    )
    rows = Breaker.objects.filter(AmongIds("installation", "ids"), failures__gt=0, definition__is_active=True)
    return rows.select_related("definition").annotate(is_off=Exists(off)).order_by("pk")


_FAILED: Final = Compiled(_failed, prepared_as="extensions_failed")

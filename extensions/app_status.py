"""The status of installed apps, by one rule for every page and mail that merchants see."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.utils import timezone

from extensions.models import Breaker, ExtensionState
from extensions.queries import defaults_of, manifest_documents, overlaid
from extensions.reach_requests import open_requests
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
class AppStatus:
    """`failing_since`: since when updates don't reach the app. `skipped` are the breakers of hooks that checkout skips.
    `asks`: for more permissions, paused or not.
    """

    state: AppState
    failing_since: datetime | None = None
    skipped: tuple[Breaker, ...] = ()
    lacks_settings: bool = False
    asks: bool = False

    @property
    def needs_merchant(self) -> bool:
        return self.state in NEEDING

    @property
    def is_in_trouble(self) -> bool:
        return self.failing_since is not None or bool(self.skipped)


def statuses_of(installations: Sequence[Installation], now: datetime | None = None) -> dict[UUID, AppStatus]:
    """By installation id. Five statements for any number of installations, which are read by `with_app()`."""
    now = now or timezone.now()
    failing = failing_since(installations, now)
    skipped = _skipped(installations)
    asked = open_requests(installations, now)
    documents = manifest_documents({each.app for each in installations})
    return {
        each.pk: _status(
            each,
            failing.get(each.pk),
            tuple(skipped[each.pk]),
            asks=asked.get(each.pk, False),
            document=documents.get(each.app_id, {}),
        )
        for each in installations
    }


def status_of(installation: Installation, now: datetime | None = None) -> AppStatus:
    return statuses_of([installation], now)[installation.pk]


def _status(
    installation: Installation,
    failing: datetime | None,
    skipped: tuple[Breaker, ...],
    *,
    asks: bool,
    document: Mapping[str, Any],
) -> AppStatus:
    lacks = lacks_settings(document, installation.settings)
    if not installation.is_active:
        state = AppState.UNINSTALLED
    elif not installation.is_usable:
        state = AppState.SUSPENDED
    elif installation.paused_at:
        state = AppState.PAUSED
    elif asks:
        state = AppState.ASKS
    elif failing or skipped:
        state = AppState.TROUBLED
    elif lacks:
        state = AppState.LACKS_SETTINGS
    else:
        state = AppState.WORKING
    return AppStatus(state, failing, skipped, lacks, asks)


def lacks_settings(document: Mapping[str, Any], values: dict[str, Any]) -> bool:
    """Whether a manifest's `settingsSchema` doesn't accept the defaults with the merchant's values on top."""
    schema = document.get("settingsSchema")
    if not isinstance(schema, dict) or not schema:
        return False
    return bool(
        problems_of_values(schema, overlaid(defaults_of(without_misfits(schema)), values), "settings")
    )


def _skipped(installations: Iterable[Installation]) -> dict[UUID, list[Breaker]]:
    """The open breakers of hooks that are in the manifest and that the merchant hasn't switched off."""
    ids = [each.pk for each in installations]
    rows = Breaker.objects.filter(
        installation__in=ids, open_until__isnull=False, definition__is_active=True
    ).select_related("definition")
    off = set(
        ExtensionState.objects.filter(installation__in=ids, is_on=False).values_list(
            "installation_id", "definition_id"
        )
    )
    found: dict[UUID, list[Breaker]] = defaultdict(list)
    for row in rows.order_by("pk"):
        if (row.installation_id, row.definition_id) not in off:
            found[row.installation_id].append(row)
    return found

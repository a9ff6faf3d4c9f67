"""What needs the merchant's attention in a store: for the home page, the notices, and the number beside them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import DateTimeField, QuerySet, UUIDField
from django.urls import reverse
from django.utils import timezone

from accounts.models import Business
from common.db.compiled import Compiled, Param
from extensions.in_store.app_status import StoreAppStatus
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from merchants.installed.app import InstalledApp

RECENT: Final = timedelta(days=30)
SHOWN: Final = 50
# What the platform or an app did that the merchant should know. Acts of merchants are in each app's history.
NEWS: Final = (
    HistoryKind.NEEDS_RECONSENT,
    HistoryKind.SCOPES_REMOVED,
    HistoryKind.SCOPES_RETURNED,
    HistoryKind.TOKEN_ENDED,
    HistoryKind.CONVERTED,
    HistoryKind.ERASURE_CONFIRMED,
    HistoryKind.ERASURE_OVERDUE,
    HistoryKind.ERASURE_UNADDRESSED,
)


@dataclass(frozen=True, slots=True)
class Concern:
    """One thing to do. `kind` is that of a notice."""

    kind: str
    icon_name: str
    title: str
    text: str
    link: str
    address: str
    since: datetime | None = None


REVIEW: Final = "Review"


def concerns_of(apps: Iterable[InstalledApp]) -> list[Concern]:
    """Questions first."""
    found = [concern for each in apps for concern in _concerns(each.installation, each.status)]
    return sorted(found, key=lambda each: each.link != REVIEW)


def _concerns(installation: Installation, status: StoreAppStatus) -> list[Concern]:
    name = installation.app_fields.name

    def address(page: str) -> str:
        return reverse(f"merchants:{page}", args=[installation.pk])

    found: list[Concern] = []
    if not status.needs_merchant:  # paused or suspended
        return found
    if status.asks:
        text = "Until you decide, it keeps working with the permissions it has."
        found.append(
            Concern("warn", "circle-question-mark", f"{name} asks for more permissions", text, REVIEW,
                    address("reconsent"))
        )  # fmt: skip
    if status.failing_since:
        text = "Information in the app may be out of date. The developer has been notified."
        found.append(
            Concern("bad", "triangle-alert", f"Updates don’t reach {name}", text, "View app",
                    address("installation"), status.failing_since)
        )  # fmt: skip
    if status.skipped:
        text = "It failed several times in a row. Orders go on without it."
        found.append(
            Concern("bad", "triangle-alert", f"Checkout skips {name}", text, "View checkout",
                    address("checkout"), _skipped_since(status))
        )  # fmt: skip
    if status.lacks_settings:
        text = "It has required settings that are still empty."
        found.append(
            Concern("warn", "settings", f"{name} needs settings", text, "Open settings",
                    address("app_settings"))
        )  # fmt: skip
    return found


def _skipped_since(status: StoreAppStatus) -> datetime | None:
    return min((each.open_since for each in status.skipped if each.open_since), default=None)


def recent_news(business: Business) -> list[HistoryEntry]:
    """What happened with the store's apps in the last 30 days, newest first, each with its installation and app."""
    return _NEWS.rows(limit=SHOWN, business=business.pk, since=timezone.now() - RECENT)


def _news() -> QuerySet[HistoryEntry]:
    business, since = Param("business", UUIDField()), Param("since", DateTimeField())
    rows = HistoryEntry.objects.filter(installation__business=business, kind__in=NEWS, at__gte=since)
    named = rows.select_related("installation__app__approved_version").defer("installation__webhook_secret")
    return named.order_by("-at", "-id")


_NEWS: Final = Compiled(_news)

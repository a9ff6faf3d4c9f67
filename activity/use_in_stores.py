"""Which of its permissions an app uses, for people who decide about it. It shows use that was seen in stores, never a promise."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any, Final

from django.conf import settings
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Exists, OuterRef, UUIDField, Value
from django.utils import timezone

from activity.models import StoreScopeUse
from activity.scope_use import events_heard
from activity.services.retention import USE_IN_STORE_KEPT, USE_KEPT
from common.db.compiled import Compiled, Param
from installations.models import Installation
from marketplace.models import App
from marketplace.scopes import SCOPES, in_order

_MIGRATION: Final = "0004_use_in_stores"


@cache
def recorded_since() -> datetime:
    """Calls before the upgrade that began to note the use in stores are not known."""
    applied = MigrationRecorder.Migration.objects.filter(app="activity", name=_MIGRATION)
    return applied.values_list("applied", flat=True).get()


@dataclass(frozen=True, slots=True)
class UseInStores:
    """Of some scopes, over the last 30 days, in stores of merchants: by calls, or by webhooks that listen to their events."""

    used: list[str]
    unused: list[str]

    @property
    def total(self) -> int:
        return len(self.used) + len(self.unused)


def use_in_stores(app: App, scopes: Collection[str]) -> UseInStores | None:
    """None while no store has had the app for 30 days and nothing was used, or if calls of these days weren't logged: then
    nothing can be said. Two statements.
    """
    if not settings.LOG_API_CALLS:
        return None
    since = timezone.now() - USE_KEPT
    in_stores = Installation.objects.filter(app=OuterRef("pk"), is_test=False, business__is_sandbox=False)
    calls = StoreScopeUse.objects.filter(
        app=OuterRef("pk"), last_day__gte=since.date() + timedelta(days=1), installation__is_test=False
    )
    before = in_stores.filter(installed_at__lt=recorded_since()).exclude(uninstalled_at__lt=since)
    asked = {
        "was_unseen": Exists(before) if recorded_since() > since else Value(False),
        "is_known": Exists(in_stores.filter(installed_at__lt=since, uninstalled_at=None)),
        **{f"uses_{name}": Exists(calls.filter(scope=name)) for name in scopes},
    }
    found = App.objects.filter(pk=app.pk).annotate(**asked).values(*asked).first()
    if found is None or found["was_unseen"]:
        return None
    heard = events_heard(app, scopes, in_stores=True)
    used = {name for name in scopes if found[f"uses_{name}"] or heard.intersection(SCOPES[name].events)}
    if not (used or found["is_known"]):
        return None
    return UseInStores(in_order(used), in_order(set(scopes) - used))


def last_uses(installation: Installation) -> dict[str, date]:
    """The last UTC day on which the app used each scope in its store, without those that it never used."""
    return dict(_LAST_USES.rows(installation=installation.pk))


_LAST_USES: Final[Compiled[Any]] = Compiled(
    lambda: StoreScopeUse.objects.filter(installation=Param("installation", UUIDField())).values_list(
        "scope", "last_day"
    ),
    prepared_as="activity_last_uses",
)


def unused_since(installation: Installation, now: datetime) -> datetime:
    """From when on a use in this store would be known: from the install, if that was later than the first record."""
    return max(installation.installed_at, recorded_since(), now - USE_IN_STORE_KEPT)

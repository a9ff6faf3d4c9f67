"""What every page of a store shows of its apps: how many things need attention, who asks for permissions, and the apps' own pages.

Reading and judging all apps takes longer than most pages, so the result is kept for ten seconds, for a store by its id. Each act of a
person shows at once: `changed` has all of the next ten seconds' pages read again. Every form that is sent in the store's area calls it, and so does an
install, a change of its terms, or its end, wherever it came from. On a sandbox store nothing is kept, since its developer changes
the app in the portal and by the API. All else, such as a webhook that begins to fail, shows at most ten seconds later.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final
from uuid import UUID

from django.core.cache import cache
from django.db import transaction
from django.dispatch import receiver

from accounts.models import Business
from installations.models import Installation
from installations.signals import installation_changed, installation_created, installation_removed
from merchants.attention import concerns_of
from merchants.installed.app import InstalledApp, apps_in

KEPT_FOR: Final = 10  # seconds
CHANGED: Final = "changed"


@dataclass(frozen=True, slots=True)
class Asking:
    """An app whose merchant is asked for more permissions."""

    installation_id: UUID
    name: str


@dataclass(frozen=True, slots=True)
class AppPage:
    """A page of an app, as the side navigation shows it. `app_icon` is the path of the app's picture, if it has one."""

    installation_id: UUID
    page_id: str
    title: str
    icon_name: str
    app_name: str
    app_slug: str
    app_icon: str


@dataclass(frozen=True, slots=True)
class Frame:
    concerns: int
    asking: list[Asking]
    pages: list[AppPage]  # those of the app that was installed first on top


class StoreApps:
    """The apps of a store, read when a page asks for them. A page that reads them all shows a frame of that moment."""

    def __init__(self, business: Business) -> None:
        self._business = business

    @cached_property
    def all(self) -> list[InstalledApp]:
        return apps_in(self._business)

    @cached_property
    def frame(self) -> Frame:
        if "all" in vars(self) or self._business.is_sandbox:
            return frame_of(self.all)
        key = _key(self._business.pk)
        kept = cache.get(key)
        if isinstance(kept, Frame):
            return kept
        frame = frame_of(self.all)
        cache.add(key, frame, KEPT_FOR)  # not over CHANGED, which may have come since the apps were read
        return frame


def frame_of(apps: Sequence[InstalledApp]) -> Frame:
    """`apps` are newest first."""
    return Frame(
        len(concerns_of(apps)),
        [
            Asking(each.installation.pk, each.installation.app_fields.name)
            for each in apps
            if each.status.asks
        ],
        [page for each in reversed(apps) for page in _pages(each)],
    )


def _pages(app: InstalledApp) -> list[AppPage]:
    installation, fields = app.installation, app.installation.app_fields
    return [
        AppPage(
            installation.pk, page.page_id, page.title, page.icon_name,
            fields.name, installation.app.slug, fields.icon_path,
        )
        for page in app.admin_pages
    ]  # fmt: skip


def changed(business_id: UUID) -> None:
    """The frame of a store may be another one now. Called after the transaction."""
    cache.set(_key(business_id), CHANGED, KEPT_FOR)


def _key(business_id: UUID) -> str:
    return f"merchants.frame:{business_id}"


@receiver([installation_created, installation_changed, installation_removed])
def _changed_elsewhere(installation: Installation, **kwargs: Any) -> None:
    transaction.on_commit(lambda: changed(installation.business_id))

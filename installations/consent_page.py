"""What the consent page says: who asks, for what, on which shop, and what that does to what stands there."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings

from accounts.models import Business
from installations.models import Installation
from installations.queries import scope_reason
from marketplace.models import App, AppVersion
from marketplace.scopes import SCOPES, Scope, in_order


@dataclass(frozen=True, slots=True)
class Line:
    title: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    icon: str
    lines: list[Line]


@dataclass(frozen=True, slots=True)
class ConsentPage:
    """`offered` is the app in the state that would be installed; `scopes` are those asked for.

    With one business the page compares with what stands there. With several it can't know yet, and tells of
    each where there is something to tell.
    """

    app: App
    offered: App | AppVersion
    scopes: Sequence[str]
    businesses: Sequence[Business]
    now: datetime

    @property
    def business(self) -> Business | None:
        """The one that there is no choice from."""
        return self.businesses[0] if len(self.businesses) == 1 else None

    @property
    def installed(self) -> list[Installation]:
        active = Installation.objects.active().with_app()
        return list(active.filter(app=self.app, business__in=self.businesses).order_by("installed_at"))

    @property
    def standing(self) -> Installation | None:
        """What stands on the one business."""
        return next(iter(self.installed), None) if self.business else None

    @property
    def groups(self) -> list[Group]:
        return grouped(self.scopes)

    @property
    def added(self) -> list[Group]:
        """What the app could not do so far."""
        return grouped(set(self.scopes) - self._held)

    @property
    def kept(self) -> list[Group]:
        return grouped(set(self.scopes) & self._held)

    @property
    def dropped(self) -> list[Group]:
        """What it could do so far, and could not any more."""
        return grouped(self._held - set(self.scopes))

    @property
    def reason(self) -> str:
        """Why more is asked for, in the developer's words. The working copy gives none."""
        if not isinstance(self.offered, AppVersion):
            return ""
        return scope_reason(self.standing) if self.standing else self.offered.scope_reason

    @property
    def erasures(self) -> list[Installation]:
        """Ended installations whose data erasure is still to come, and that this install would cancel."""
        since = self.now - timedelta(seconds=settings.DATA_ERASURE_DELAY)
        ended = Installation.objects.with_app().filter(
            app=self.app, business__in=self.businesses, uninstalled_at__gt=since
        )
        newest = {each.business_id: each for each in ended.order_by("uninstalled_at")}
        active = {each.business_id for each in self.installed}
        return [each for each in newest.values() if each.webhook_url and each.business_id not in active]

    @property
    def _held(self) -> set[str]:
        return set(self.standing.effective_scopes) if self.standing else set()


def grouped(names: Iterable[str]) -> list[Group]:
    """Scopes by what they let an app do. The sentences are those of the table."""
    scopes = [SCOPES[name] for name in in_order(names)]
    groups = [
        Group("Can see", "eye", [_line(scope) for scope in scopes if not scope.writes]),
        Group("Can change", "pencil", [_line(scope) for scope in scopes if scope.writes]),
        Group("Will be told about", "bell", [Line(scope.told) for scope in scopes if scope.told]),
    ]
    return [group for group in groups if group.lines]


def _line(scope: Scope) -> Line:
    return Line(scope.title, scope.detail)

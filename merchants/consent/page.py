"""The contents of the consent page: which app asks for what in which store, and what an install changes there. And the request of an installed app
for more: what is new, what it has already, and what declining means.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.functional import cached_property

from accounts.models import Business
from activity.use import UseInStores, use_in_stores
from extensions.enums import ExtensionType
from extensions.in_store.capabilities import Capability, Requested, offered_capabilities, requested
from installations.models import HistoryEntry, Installation, Trial
from installations.queries import AskedScopes, asked_since
from marketplace.data_terms import DataTerms
from marketplace.models import App, AppVersion
from marketplace.scopes import SCOPES, Scope, in_order
from merchants.frame import InstalledApp
from teststores.trials import refused_settings


@dataclass(frozen=True, slots=True)
class ConsentLine:
    title: str
    detail: str = ""
    is_sensitive: bool = False


@dataclass(frozen=True, slots=True)
class ConsentGroup:
    name: str
    icon: str
    lines: list[ConsentLine]


@dataclass(frozen=True)
class ConsentPage:
    """`offered` is the working copy or version that would be installed; `scopes` are the requested ones.

    With one business, the page compares with the existing installation. With several, the merchant chooses the store on
    the page, so it only lists the stores that have the app.
    """

    app: App
    offered: App | AppVersion
    scopes: Sequence[str]
    businesses: Sequence[Business]
    now: datetime

    @property
    def version(self) -> str:
        """Which approved version the page shows; empty for the working copy."""
        return str(self.offered.pk) if isinstance(self.offered, AppVersion) else ""

    @property
    def business(self) -> Business | None:
        """The only business; None if there are several to choose from."""
        return self.businesses[0] if len(self.businesses) == 1 else None

    @cached_property
    def installed(self) -> list[Installation]:
        active = Installation.objects.active().with_app()
        return list(active.filter(app=self.app, business__in=self.businesses).order_by("installed_at"))

    @property
    def existing(self) -> Installation | None:
        """The existing installation in the only business."""
        return next(iter(self.installed), None) if self.business else None

    @cached_property
    def trial(self) -> Trial | None:
        """The one of this app on a copy of the only business."""
        return (
            Trial.objects.open().filter(app=self.app, store=self.business).first() if self.business else None
        )

    @cached_property
    def refused_settings(self) -> list[str] | None:
        """The names of the trial's settings that the store can't take over; None if there are none to take over."""
        if self.trial is None or self.existing or not isinstance(self.offered, AppVersion):
            return None
        return refused_settings(self.trial, self.offered)

    @property
    def added(self) -> list[ConsentGroup]:
        """The requested scopes that the app doesn't have yet."""
        return grouped(set(self.scopes) - self._held)

    @property
    def kept(self) -> list[ConsentGroup]:
        return grouped(set(self.scopes) & self._held)

    @property
    def dropped(self) -> list[ConsentGroup]:
        """The scopes that the app would lose."""
        return grouped(self._held - set(self.scopes))

    @property
    def capabilities(self) -> list[Capability]:
        """What an install adds to the store: for an existing installation, only what is new."""
        return offered_capabilities(self.offered) if self._requested is None else self._requested.capabilities

    @property
    def in_short(self) -> list[str]:
        return in_short(self.capabilities, set(self.scopes) - self._held)

    @property
    def asks_about_data(self) -> bool:
        """Whether the store of an existing installation hasn't agreed yet to where its data goes."""
        return self._requested is not None and self._requested.data is not None

    @property
    def is_about_data_alone(self) -> bool:
        return self.asks_about_data and not self.added and not self.capabilities

    @property
    def asks_for_more(self) -> bool:
        return bool(self.added or self.capabilities or self.asks_about_data)

    @property
    def reason(self) -> str:
        """The developer's reason for asking for more."""
        return self._asked.reason

    @property
    def erasures(self) -> list[Installation]:
        """Ended installations whose data erasure is still due. This install would cancel it."""
        since = self.now - timedelta(seconds=settings.DATA_ERASURE_DELAY)
        ended = Installation.objects.with_app().filter(
            app=self.app, business__in=self.businesses, uninstalled_at__gt=since
        )
        newest = {each.business_id: each for each in ended.order_by("uninstalled_at")}
        active = {each.business_id for each in self.installed}
        return [each for each in newest.values() if each.webhook_url and each.business_id not in active]

    @property
    def use(self) -> UseInStores | None:
        """What stores have seen of the permissions that it has: here, or that it asks everyone for. Not of a working copy."""
        if not isinstance(self.offered, AppVersion):
            return None
        return use_in_stores(self.app, self._held if self.existing else self.offered.scopes)

    @property
    def asked_since(self) -> list[tuple[Scope, str]]:
        """The requested scopes that the app doesn't have yet, each with the version since which it asks for it."""
        since = self._asked.since
        return [(SCOPES[name], version) for name, version in since.items() if name in self.scopes]

    @cached_property
    def _requested(self) -> Requested | None:
        return requested(self.existing) if self.existing else None

    @cached_property
    def _asked(self) -> AskedScopes:
        """Of an installed app. Its working copy gives neither a version nor a reason."""
        if self.existing is None or not isinstance(self.offered, AppVersion):
            return AskedScopes({}, "")
        return asked_since(self.existing)

    @property
    def _held(self) -> set[str]:
        return set(self.existing.effective_scopes) if self.existing else set()


def grouped(names: Iterable[str]) -> list[ConsentGroup]:
    """Scopes by what they let an app do, sensitive ones first. The sentences come from the scope table."""
    scopes = sorted((SCOPES[name] for name in in_order(names)), key=lambda scope: not scope.sensitive)
    groups = [
        ConsentGroup("Can see", "eye", [_line(scope) for scope in scopes if not scope.writes]),
        ConsentGroup("Can change", "pencil", [_line(scope) for scope in scopes if scope.writes]),
        ConsentGroup(
            "Gets notified of", "bell", [ConsentLine(scope.updates) for scope in scopes if scope.updates]
        ),
    ]
    return [group for group in groups if group.lines]


def in_short(capabilities: Iterable[Capability], scopes: Iterable[str]) -> list[str]:
    """What is sensitive of it, in three lines at most: at checkout, on every page, and with the store's data."""
    sensitive = [each for each in capabilities if each.is_sensitive]
    at_checkout = [each.title for each in sensitive if each.type == ExtensionType.HOOK]
    scripts = sum(each.type == ExtensionType.EMBED for each in sensitive)
    runs = f"Runs {scripts} scripts on every page" if scripts > 1 else "Runs a script on every page"
    data = [SCOPES[name].in_short for name in in_order(scopes) if SCOPES[name].in_short]
    return [
        " ".join(f"{each}." for each in line) for line in (at_checkout, [runs] * bool(scripts), data) if line
    ]


def _line(scope: Scope) -> ConsentLine:
    return ConsentLine(scope.title, scope.detail, bool(scope.sensitive))


# --- The question of an installed app ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PermissionRequest:
    """`version` is the approved version that is shown. The answer names it, so that it can't approve another one."""

    installation: Installation
    version: int
    added: list[tuple[Scope, str]]  # each with the version since which it is asked for
    kept: list[Scope]
    use: UseInStores | None  # of what it has
    capabilities: list[Capability]  # scripts, widgets, hooks and hosts that the store hasn't agreed to
    data: DataTerms | None  # where its data goes, if it hasn't agreed to that
    agreed_data: DataTerms | None  # what it agreed to instead
    reason: str
    allowed_at: datetime  # the newest consent so far
    declined_at: datetime | None
    rests: bool  # declined recently, so no banner asks again

    @property
    def is_about_data_alone(self) -> bool:
        return self.data is not None and not self.capabilities and not self.added

    @property
    def in_short(self) -> list[str]:
        return in_short(self.capabilities, [scope.name for scope, _ in self.added])

    @property
    def approved(self) -> str:
        """What the merchant reads after a yes, with `{name}` for the app's."""
        if self.is_about_data_alone:
            return "Approved. You agreed to where your data goes with {name}."
        return "Approved. {name} can use its new permissions now."

    @property
    def declined(self) -> str:
        if self.is_about_data_alone:
            return "Declined. The history says so. {name} goes on: pause or uninstall it to stop that."
        return "Declined. {name} keeps its current permissions."

    @property
    def scopes(self) -> list[str]:
        """The scopes after an approval: exactly those that are shown."""
        return in_order({scope.name for scope in (*(added for added, _ in self.added), *self.kept)})


def question_of(
    app: InstalledApp, granted: Mapping[str, HistoryEntry], *, with_use: bool = False
) -> PermissionRequest | None:
    """The open request of an app, if any. `granted` is from `granted_by`. With `use`, two statements more."""
    installation, version = app.installation, app.installation.runs
    if version is None or not app.status.has_request:
        return None
    asked = asked_since(installation)
    reach = requested(installation) if app.status.asks_reach else Requested([], None)
    return PermissionRequest(
        installation=installation,
        version=version.number,
        added=[(SCOPES[name], since) for name, since in asked.since.items()],
        kept=[SCOPES[name] for name in installation.effective_scopes],
        use=use_in_stores(installation.app, installation.effective_scopes) if with_use else None,
        capabilities=reach.capabilities,
        data=reach.data,
        agreed_data=reach.agreed,
        reason=asked.reason,
        allowed_at=max((entry.at for entry in granted.values()), default=installation.installed_at),
        declined_at=installation.reconsent_declined_at,
        rests=not app.status.asks,
    )

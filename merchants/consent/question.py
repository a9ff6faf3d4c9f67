"""The request of an installed app for more: what is new, what it has already, and what declining means."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from activity.use_in_stores import UseInStores, use_in_stores
from extensions.in_store.capabilities import Capability
from extensions.reach_requests import Requested, requested
from installations.models import HistoryEntry, Installation
from installations.queries import asked_since
from marketplace.data_terms import DataTerms
from marketplace.scopes import SCOPES, Scope, in_order
from merchants.installed.app import InstalledApp


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
    agreed = installation.agreed_version if reach.data else None
    return PermissionRequest(
        installation=installation,
        version=version.number,
        added=[(SCOPES[name], since) for name, since in asked.since.items()],
        kept=[SCOPES[name] for name in installation.effective_scopes],
        use=use_in_stores(installation.app, installation.effective_scopes) if with_use else None,
        capabilities=reach.capabilities,
        data=reach.data,
        agreed_data=agreed.data_terms if agreed else None,
        reason=asked.reason,
        allowed_at=max((entry.at for entry in granted.values()), default=installation.installed_at),
        declined_at=installation.reconsent_declined_at,
        rests=not app.status.asks,
    )

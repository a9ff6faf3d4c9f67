"""The apps of a store as its merchant's pages show them. Read once for each page; templates and their tags ask nothing."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from django.db.models import UUIDField

from accounts.models import Business
from common.db.compiled import Compiled, Param
from extensions import definitions
from extensions.definitions import AdminPage
from extensions.enums import ExtensionType
from extensions.hooks import health
from extensions.in_store.app_status import StoreAppStatus, statuses_of
from extensions.in_store.capabilities import Capability, capabilities_of
from extensions.models import Definition
from extensions.queries import Extension, running_definitions
from installations.models import Installation
from installations.queries import installations_of
from merchants.pages.block_picker import BlockOption, choice_of


@dataclass(frozen=True, slots=True)
class InstalledApp:
    """An active app of a store. `definitions` are what the store runs, or would if it hadn't paused the app."""

    installation: Installation
    status: StoreAppStatus
    definitions: list[Definition]

    def of_type(self, kind: ExtensionType) -> list[Definition]:
        return [each for each in self.definitions if each.type == kind]

    def dated(self, works_since: datetime | None) -> "InstalledApp":
        """For a page that shows what failed before."""
        return replace(self, status=replace(self.status, works_since=works_since))

    @property
    def hooks(self) -> list[Definition]:
        """In the order of a checkout."""
        return health.in_order(self.of_type(ExtensionType.HOOK))

    @property
    def embeds(self) -> list[Extension]:
        """Its scripts and widgets, on or off. None while it is paused, like blocks."""
        found = self.of_type(ExtensionType.EMBED) if self.installation.is_running else []
        return [Extension(self.installation, each) for each in found]

    @property
    def blocks(self) -> list[BlockOption]:
        found = self.of_type(ExtensionType.BLOCK) if self.installation.is_running else []
        return [choice_of(self.installation, each) for each in found]

    @property
    def admin_pages(self) -> list[AdminPage]:
        """While it is paused, too."""
        found = self.of_type(ExtensionType.ADMIN_PAGE) if self.installation.is_usable else []
        return [definitions.admin_page(each) for each in found]

    @property
    def capabilities(self) -> list[Capability]:
        return capabilities_of(self.definitions)


_BUSINESS: Final[Any] = Param("business", UUIDField())
_ACTIVE: Final = Compiled(
    lambda: installations_of(_BUSINESS).active().select_related("installed_by"),
    prepared_as="merchants_active",
)


def apps_in(business: Business) -> list[InstalledApp]:
    """The active apps of a store, newest first. Six statements, one more on a sandbox store."""
    installations = _ACTIVE.rows(business=business.pk)
    for each in installations:
        each.business = business
    statuses, found = statuses_of(installations), running_definitions(installations)
    return [InstalledApp(each, statuses[each.pk], found[each.app_id]) for each in installations]

"""Which hooks are asked at a point, in which order."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from accounts.models import Business
from extensions.addresses import hook_address
from extensions.enums import ExtensionType
from extensions.models import Definition
from installations.models import Installation
from marketplace.models import App, AppVersion
from stores.hookpoints import HookPoint

HookKey = tuple[UUID, UUID]

# Plain values, of a query whose lasting part is built once: it is made three times for each order, by shops without
# any app too.
_READ: Final = (
    "app__installations__pk", "app__installations__is_test", "app__installations__webhook_secret",
    "app_id", "app__slug", "app__developer_id", "app__webhook_url",
    "app__approved_version_id", "app__approved_version__webhook_url", "pk", "content",
)  # fmt: skip


@lru_cache(1)
def _in_force() -> QuerySet[Definition]:
    """The hooks of apps that are neither suspended nor deleted."""
    return Definition.objects.filter(
        type=ExtensionType.HOOK, is_active=True, app__suspended_at=None, app__deleted_at=None
    ).order_by()


@dataclass(frozen=True, slots=True)
class LiveHook:
    """A hook where it is in force: on one installation. `timeout` is in seconds; lower priorities run first."""

    installation_id: UUID
    definition_id: UUID
    app_id: UUID
    slug: str
    url: str
    secret: str
    timeout: float
    priority: int

    @property
    def key(self) -> HookKey:
        """What its breaker and its calls go by."""
        return self.installation_id, self.definition_id


def live_hooks(business: Business, point: HookPoint, *, slug: str = "") -> list[LiveHook]:
    """Those of active installations whose app is neither suspended nor deleted and has a Webhook URL, as they run:
    by priority, then by the time of the install. `slug` leaves the one app. One statement."""
    rows = _in_force().filter(
        key=point, app__installations__business=business, app__installations__uninstalled_at=None
    )
    if slug:
        rows = rows.filter(app__slug=slug)
    found = [hook for row in rows.values_list(*_READ) if (hook := _live(business, *row))]
    return sorted(found, key=lambda hook: (hook.priority, hook.installation_id))


def _live(
    business: Business, pk: UUID, is_test: bool, secret: str, app_id: UUID, slug: str, developer_id: UUID,
    url: str, version_id: UUID | None, approved_url: str, definition_id: UUID, content: dict[str, Any],
) -> LiveHook | None:  # fmt: skip
    version = AppVersion(pk=version_id, webhook_url=approved_url) if version_id else None
    app = App(pk=app_id, developer_id=developer_id, webhook_url=url, approved_version=version)
    base = Installation(pk=pk, is_test=is_test, business=business, app=app).webhook_url
    if not base:
        return None
    return LiveHook(
        installation_id=pk,
        definition_id=definition_id,
        app_id=app_id,
        slug=slug,
        url=hook_address(base, content["url"]),
        secret=secret,
        timeout=content["timeout"] / 1000,
        priority=content["priority"],
    )


def groups(hooks: Iterable[LiveHook]) -> list[list[LiveHook]]:
    """Equal priorities run side by side."""
    return [list(group) for _, group in groupby(hooks, key=lambda hook: hook.priority)]

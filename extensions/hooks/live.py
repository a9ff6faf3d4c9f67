"""Which hooks are asked at a point, in which order."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final
from urllib.parse import urlsplit, urlunsplit
from uuid import UUID

from django.db.models import F

from accounts.models import Business
from extensions.enums import ExtensionType
from installations.models import Installation
from stores.hookpoints import HookPoint

HookKey = tuple[UUID, UUID]

# What `Installation.webhook_url` reads, and what a call needs besides.
_READ: Final = (
    "business", "is_test", "webhook_secret",
    "app__slug", "app__developer", "app__webhook_url", "app__approved_version",
    "app__approved_version__webhook_url",
)  # fmt: skip


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
    rows = Installation.objects.active().select_related("app__approved_version").only(*_READ)
    rows = rows.filter(
        business=business,
        app__suspended_at=None,
        app__deleted_at=None,
        app__definitions__type=ExtensionType.HOOK,
        app__definitions__key=point,
        app__definitions__is_active=True,
        **({"app__slug": slug} if slug else {}),
    ).annotate(definition_id=F("app__definitions__id"), content=F("app__definitions__content"))
    found = [hook for row in rows.order_by("id") if (hook := _live(row, business))]
    return sorted(found, key=lambda hook: hook.priority)


def _live(row: Installation, business: Business) -> LiveHook | None:
    row.business = business
    base = row.webhook_url
    if not base:
        return None
    content = row.content  # type: ignore[attr-defined]
    return LiveHook(
        installation_id=row.pk,
        definition_id=row.definition_id,  # type: ignore[attr-defined]
        app_id=row.app_id,
        slug=row.app.slug,
        url=joined(base, content["url"]),
        secret=row.webhook_secret,
        timeout=content["timeout"] / 1000,
        priority=content["priority"],
    )


def joined(base: str, path: str) -> str:
    """The Webhook URL with the hook's path behind its own, exactly one slash between (contract section 9)."""
    parts = urlsplit(base)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/{path.lstrip('/')}"))


def groups(hooks: Iterable[LiveHook]) -> list[list[LiveHook]]:
    """Equal priorities run side by side."""
    return [list(group) for _, group in groupby(hooks, key=lambda hook: hook.priority)]

"""The hooks that a store asks, in order."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db.models import Exists, IntegerField, OuterRef, Q, QuerySet, Subquery, UUIDField
from django.db.models.functions import Coalesce

from accounts.models import Business
from common.db.compiled import Compiled, Param
from extensions.definitions import hook_address
from extensions.enums import ExtensionType
from extensions.models import Breaker, Definition, ExtensionState, HookPreference, LiveDefinition
from installations.models import Installation, holds, is_in_release, running
from stores.hookpoints import HookPoint, HookRequest

HookKey = tuple[UUID, UUID]


class _Row(NamedTuple):
    """A hook on one installation, as the queries read it."""

    installation_id: UUID
    is_test: bool
    is_review: bool
    is_own: bool
    version_url: str | None
    secret: str
    app_id: UUID
    slug: str
    name: str
    webhook_url: str
    approved_name: str | None
    definition_id: UUID
    point: str
    content: dict[str, Any]
    most_discount: int
    open_until: datetime | None
    reads_orders: bool


def _columns(installation: str, definition: str) -> tuple[str, ...]:
    """The columns of a `_Row`, by the paths to the installation and to the definition."""
    of_app = (
        "id",
        "slug",
        "name",
        "webhook_url",
        "approved_version__name",
    )
    of_installation = ("pk", "is_test", "is_review", "is_own", "runs__webhook_url", "webhook_secret")
    return (
        *(f"{installation}__{name}" for name in of_installation),
        *(f"{definition}app__{name}" for name in of_app),
        f"{definition}pk",
        f"{definition}key",
        "content",
        "most_discount",
        "open_until",
        "reads_orders",
    )


def _agreed_to() -> QuerySet[LiveDefinition, Any]:
    """The hooks that stores agreed to and have not switched off."""
    rows = LiveDefinition.objects.filter(
        running("version__agreed_by__", app="definition__app__"),
        ~_switched_off("version__agreed_by", "definition"),
        definition__type=ExtensionType.HOOK,
        version__agreed_by__business=_BUSINESS,
        in_release=is_in_release("version__agreed_by__", "definition__app__"),
    ).order_by()
    rows = rows.annotate(
        most_discount=_most_discount("version__agreed_by"),
        open_until=_open_until("version__agreed_by", "definition"),
        reads_orders=holds("read_orders", "version__agreed_by__", "definition__app__"),
    )
    return rows.values_list(*_columns("version__agreed_by", "definition__"))


def _of_working_copies() -> QuerySet[Definition, Any]:
    """The hooks of apps on the sandbox store of one of their developers; and of apps that a reviewer tries there."""
    rows = Definition.objects.filter(
        running("app__installations__"),
        ~_switched_off("app__installations", "pk"),
        Q(app__installations__is_own=True) | Q(app__installations__is_review=True),
        type=ExtensionType.HOOK,
        is_active=True,
        app__installations__business=_BUSINESS,
    ).order_by()
    rows = rows.annotate(
        most_discount=_most_discount("app__installations"),
        open_until=_open_until("app__installations", "pk"),
        reads_orders=holds("read_orders", "app__installations__", "app__"),
    )
    return rows.values_list(*_columns("app__installations", ""))


def _switched_off(installation: str, definition: str) -> Exists:
    off = {"installation": OuterRef(installation), "definition": OuterRef(definition), "is_on": False}
    return Exists(ExtensionState.objects.filter(**off))


def _most_discount(installation: str) -> Coalesce:
    chosen = HookPreference.objects.filter(installation=OuterRef(installation)).values("most_discount")
    return Coalesce(Subquery(chosen), 100, output_field=IntegerField())


def _open_until(installation: str, definition: str) -> Subquery:
    """Until when its breaker is open, read along: a broken app must not cost each order a statement more."""
    breaker = Breaker.objects.filter(installation=OuterRef(installation), definition=OuterRef(definition))
    return Subquery(breaker.values("open_until"))


# These run for each order, in stores without any app too.
_BUSINESS = Param("business", UUIDField())
_AGREED_TO: Final = Compiled(_agreed_to, prepared_as="extensions_hooks")
_OF_WORKING_COPIES: Final = Compiled(_of_working_copies, prepared_as="extensions_own_hooks")


@dataclass(frozen=True, slots=True)
class LiveHook:
    """A hook on one installation. `timeout` is in seconds; lower priorities run first."""

    point: str
    installation_id: UUID
    definition_id: UUID
    app_id: UUID
    slug: str
    name: str
    url: str
    secret: str
    timeout: float
    priority: int
    most_discount: int  # per cent of the subtotal
    open_until: datetime | None  # of its breaker, when this was read
    reads_orders: bool  # so that it may know who orders

    @property
    def key(self) -> HookKey:
        """The key of its breaker and its calls."""
        return self.installation_id, self.definition_id

    def is_skipped(self, now: datetime) -> bool:
        """Whether its breaker is open. If it was, a trial call may be due; `breaker.admit` decides that."""
        return self.open_until is not None and self.open_until > now


def live_hooks(business: Business) -> list[LiveHook]:
    """The hooks, at all points, of active installations that are not paused, whose app is neither suspended nor deleted and
    has a Webhook URL, in the order in which those of a point run: by priority, then by the time of the install. Those that
    the merchant has switched off are left out.

    A store runs what it agreed to, and its own developer's sandbox store the working copy. One statement; two for a
    sandbox store.
    """
    found = filter(None, map(_live, _rows(business)))
    return sorted(found, key=lambda hook: (hook.priority, hook.installation_id))


def hooks_at(business: Business, point: HookPoint) -> list[LiveHook]:
    """Those of one point."""
    return [hook for hook in live_hooks(business) if hook.point == point]


def hooks_for(request: HookRequest, *, slug: str = "") -> list[LiveHook]:
    """Those that a request asks. The points of a flow share one read, until an app has been waited for. `slug` selects one
    app.
    """
    flow = request.flow
    if flow.hooks is None:
        flow.hooks = live_hooks(request.business)
    return [hook for hook in flow.hooks if hook.point == request.point and slug in ("", hook.slug)]


def _rows(business: Business) -> list[_Row]:
    rows = [_Row._make(row) for row in _AGREED_TO.rows(business=business.pk)]
    if not business.is_sandbox:
        return rows
    own = _OF_WORKING_COPIES.rows(business=business.pk)
    return [*map(_Row._make, own), *(row for row in rows if not row.is_own)]


def _live(row: _Row) -> LiveHook | None:
    url = _webhook_url(row)
    if not url:
        return None
    return LiveHook(
        point=row.point,
        installation_id=row.installation_id,
        definition_id=row.definition_id,
        app_id=row.app_id,
        slug=row.slug,
        name=row.approved_name or row.name,
        url=hook_address(url, row.content["url"]),
        secret=row.secret,
        timeout=row.content["timeout"] / 1000,
        priority=row.content["priority"],
        most_discount=row.most_discount,
        open_until=row.open_until,
        reads_orders=row.reads_orders,
    )


def _webhook_url(row: _Row) -> str | None:
    """As `Installation.webhook_url`. Only test installs may follow the working copy."""
    installation = Installation(is_test=row.is_test, is_review=row.is_review, is_own=row.is_own)
    if installation.follows_working_copy:
        return row.webhook_url
    return row.version_url


def groups(hooks: Iterable[LiveHook]) -> list[list[LiveHook]]:
    """Equal priorities run side by side."""
    return [list(group) for _, group in groupby(hooks, key=lambda hook: hook.priority)]

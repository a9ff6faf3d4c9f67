"""What a merchant decides about an app: its settings, hooks, scripts and widgets on or off, settings of embeds, a cap, and blocks on site pages. The
only writer of `Placement`.
"""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.access import require_role
from accounts.models import User
from common.db.rows import get_or_not_found
from common.errors import Conflict, Invalid, NotFound
from extensions.enums import ExtensionType
from extensions.models import Definition, ExtensionState, HookPreference, Placement
from extensions.queries import defaults_of, overlaid, runs_in, settings_schema_of
from extensions.schemas import problems_of_values, resolved, without_misfits
from extensions.services.installation_updates import published_update
from installations.models import Installation
from installations.services.lifecycle import keep_settings, locked, require_unchanged
from stores.models import SitePage

SWITCHABLE: Final = (ExtensionType.HOOK, ExtensionType.EMBED)


@transaction.atomic
def change_controls(
    *,
    installation: Installation,
    switched: Mapping[UUID, bool],
    most_discount: int | None = None,
    now: datetime | None = None,
) -> None:
    """Switch hooks, scripts and widgets on or off in one store, by the ids of their definitions; and set the cap, if there is one: the
    most that the app may take off an order, in per cent of the subtotal. The app gets one event.

    Raises `Conflict` if the installation has ended, `NotFound` if its app has no extension with such an id, and `Invalid` for a cap
    outside 0 to 100; then nothing is changed.
    """
    installation, now = locked(installation), now or timezone.now()
    with published_update(installation, now):
        for definition_id, is_on in switched.items():
            _change(installation, definition_id, SWITCHABLE, now, is_on=is_on)
        if most_discount is not None:
            _limit_discount(installation, most_discount)


@transaction.atomic
def save_embed_settings(
    *,
    installation: Installation,
    definition: Definition,
    settings: dict[str, Any],
    before: dict[str, Any] | None = None,
    now: datetime | None = None,
) -> None:
    """Save the merchant's values, which the caller has validated with the embed's schema. Raises like
    `change_controls`, and `Conflict` if the values are no longer those of `before`.
    """
    installation = locked(installation)
    state = ExtensionState.objects.filter(installation=installation, definition=definition).first()
    require_unchanged(state.settings if state else {}, settings, before)
    _change(installation, definition.pk, (ExtensionType.EMBED,), now, settings=settings)


def _limit_discount(installation: Installation, percent: int) -> None:
    if not 0 <= percent <= 100:
        raise Invalid.field("most_discount", "Enter a number from 0 to 100.")
    HookPreference.objects.update_or_create(installation=installation, defaults={"most_discount": percent})


def _change(
    installation: Installation,
    definition_id: UUID,
    kinds: Collection[ExtensionType],
    now: datetime | None,
    **fields: Any,
) -> None:
    """Of a locked installation."""
    own = Definition.objects.filter(pk=definition_id, app=installation.app_id, type__in=kinds)
    if not own.exists():
        raise NotFound("No extension with this key.")
    ExtensionState.objects.update_or_create(
        installation=installation,
        definition_id=definition_id,
        defaults={**fields, "updated_at": now or timezone.now()},
    )


@transaction.atomic
def save_settings(
    *, installation: Installation, user: User, values: dict[str, Any], before: dict[str, Any] | None = None
) -> Installation:
    """Replace the values of the app's `settingsSchema` for this installation; `before` are those that `values` were made of.

    The schema must accept its defaults with the values on top (contract, section 6).
    Raises `Invalid` with every problem, `NotAllowed` for another person's business, `Conflict` if the app is not
    installed any more, and if the values are no longer those of `before`.
    """
    require_role(installation.business, user, to="change an app's settings")
    schema = settings_schema_of(installation)
    if schema is None:
        raise Invalid("This app has no settings.")
    in_force = overlaid(defaults_of(without_misfits(schema)), values)
    if problems := problems_of_values(schema, in_force, "settings"):
        raise Invalid.fields(problems)
    return keep_settings(installation=installation, values=values, before=before)


@dataclass(frozen=True, slots=True)
class TakenOver:
    """Settings of one installation for another one: what its schema takes, and the names of what it refuses."""

    values: dict[str, Any]
    refused: list[str]


def taken_over(values: Mapping[str, Any], schema: Mapping[str, Any] | None) -> TakenOver:
    """Settings of a trial in the store, by the schema that is in force there. Each name for itself."""
    whole = without_misfits(schema) if schema else {}
    taken: dict[str, Any] = {}
    refused: list[str] = []
    for name, value in values.items():
        candidate = overlaid(defaults_of(whole), taken | {name: value})
        is_known = name in (schema or {}).get("properties", {})
        if not is_known or _is_refused(schema, candidate, name):
            refused.append(name)
        else:
            taken[name] = value
    return TakenOver(taken, refused)


def _is_refused(schema: Any, values: dict[str, Any], name: str) -> bool:
    """What is wrong elsewhere is the fault of another name."""
    return any(re.split(r"[.\[]", each["field"])[0] == name for each in problems_of_values(schema, values))


def change_some_setting(installation: Installation, values: dict[str, Any] | None = None) -> bool:
    """For tests on a sandbox store, as its merchant: save these values, or change the first setting that its schema lets one change.

    Raises like `save_settings`. False if there is none to change.
    """
    if values is None:
        values = _other_values(settings_schema_of(installation), installation.settings)
        if values is None:
            return False
    save_settings(installation=installation, user=installation.business.owner, values=values)
    return True


def _other_values(schema: dict[str, Any] | None, values: dict[str, Any]) -> dict[str, Any] | None:
    plain: Any = resolved(schema) if schema else {}
    defaults = defaults_of(plain)
    in_force = overlaid(defaults, values)
    for name, part in plain.get("properties", {}).items():
        for other in _others(part, in_force.get(name)) if isinstance(part, dict) else ():
            changed = in_force | {name: other}
            if other != in_force.get(name) and not problems_of_values(schema, changed, "settings"):
                return values | {name: other}
    return None


def _others(part: dict[str, Any], value: Any) -> list[Any]:
    """Some values of a setting besides `value`, which the schema may refuse."""
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else 0
    by_type: dict[str, list[Any]] = {
        "boolean": [value is not True],
        "string": ["Test", "Test 2", "#336699", "test@example.com", "https://example.com/", "2026-12-01"],
        "integer": [number + 1, number - 1, part.get("minimum"), part.get("maximum")],
    }
    kind = part.get("type")
    return [*part.get("enum", ()), *by_type.get("integer" if kind == "number" else str(kind), ())]


# --- Blocks on pages ---------------------------------------------------------------------------------

# After each of these, the positions of a page's blocks have no gaps. The page's row is locked first.

MOST_BLOCKS = 50  # blocks on one page


@transaction.atomic
def add_block(
    *,
    page: SitePage,
    installation: Installation,
    definition: Definition,
    settings: dict[str, Any] | None = None,
    now: datetime | None = None,
) -> Placement:
    """Add a block at the end of a page of the installation's business.

    Raises `Conflict` if the installation has ended or the page is full, `NotFound` for a page of another business
    and for a block that the store doesn't run.
    """
    installation = locked(installation)
    _lock(page)
    if page.business_id != installation.business_id:
        raise NotFound("Page not found")
    if definition.type != ExtensionType.BLOCK or not runs_in(installation, definition):
        raise NotFound("Block not found")
    position = Placement.objects.filter(page=page).count()
    if position >= MOST_BLOCKS:
        raise Conflict(f"A page holds at most {MOST_BLOCKS} blocks.")
    return Placement.objects.create(
        page=page,
        installation=installation,
        definition=definition,
        position=position,
        settings=settings or {},
        created_at=now or timezone.now(),
    )


@transaction.atomic
def move_block(*, placement: Placement, by: int) -> None:
    """Move a block down by `by` positions (up if negative), at most to the page's end."""
    page = _page_of(placement)
    order = _order(page)
    if placement.pk not in order:
        raise NotFound("Block not found")
    at = order.index(placement.pk)
    order.insert(max(0, min(len(order) - 1, at + by)), order.pop(at))
    _number(order)


@transaction.atomic
def save_block_settings(
    *, placement: Placement, settings: dict[str, Any], before: dict[str, Any] | None = None
) -> Placement:
    """Save the merchant's values, which the caller has validated with the block's schema. Returns the block as it was.

    Raises `NotFound` if it was removed meanwhile, and `Conflict` if its values are no longer those of `before`.
    """
    found = get_or_not_found(Placement.objects.select_for_update(), placement.pk, "Block not found")
    require_unchanged(found.settings, settings, before)
    Placement.objects.filter(pk=found.pk).update(settings=settings)
    return found


@transaction.atomic
def remove_block(*, placement: Placement) -> None:
    """Remove a block from its page. Removing it twice is not an error."""
    page = _page_of(placement)
    Placement.objects.filter(pk=placement.pk).delete()
    _number(_order(page))


def remove_all_of(installation: Installation) -> int:
    """Remove all blocks of an installation, in the transaction that ends it. Returns the number of affected pages."""
    pages = set(Placement.objects.filter(installation=installation).values_list("page_id", flat=True))
    for page in SitePage.objects.select_for_update().filter(pk__in=pages).order_by("pk"):
        Placement.objects.filter(page=page, installation=installation).delete()
        _number(_order(page))
    return len(pages)


def _lock(page: SitePage) -> SitePage:
    return get_or_not_found(SitePage.objects.select_for_update(), page.pk, "Page not found")


def _page_of(placement: Placement) -> SitePage:
    return _lock(SitePage(pk=placement.page_id))


def _order(page: SitePage) -> list[UUID]:
    return list(Placement.objects.filter(page=page).order_by("position", "id").values_list("pk", flat=True))


def _number(order: list[UUID]) -> None:
    for position, placement_id in enumerate(order):
        Placement.objects.filter(pk=placement_id).exclude(position=position).update(position=position)

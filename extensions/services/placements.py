"""Blocks on site pages: adding, moving, setting up, removing. The only writer of `Placement`.

After each of these, the positions of a page's blocks have no gaps. The page's row is locked first.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from common.db.finders import get_or_not_found
from common.errors import Conflict, NotFound
from extensions.enums import ExtensionType
from extensions.models import Definition, Placement
from extensions.queries import runs_in
from installations.models import Installation
from installations.services.lifecycle import locked
from installations.services.settings import require_unchanged
from stores.models import SitePage

MOST = 50  # blocks on one page


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
    if position >= MOST:
        raise Conflict(f"A page holds at most {MOST} blocks.")
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

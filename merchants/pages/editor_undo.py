"""The last change of a page's blocks, which the page editor can undo. It is kept in the session until the next change."""

from typing import Any, Final

from common.errors import NotFound
from extensions.models import Definition, Placement
from extensions.services import placements
from installations.queries import own_installation
from merchants.access import MerchantRequest
from stores.models import SitePage

KEY: Final = "page_undo"
ADDED, REMOVED, MOVED, SAVED = "added", "removed", "moved", "saved"


def remember(request: MerchantRequest, page: SitePage, act: str, placement: Placement, **more: Any) -> None:
    """`placement` as it was before the change; for `MOVED`, `by` is the way back."""
    request.session[KEY] = {
        "page": str(page.pk),
        "act": act,
        "block": str(placement.pk),
        "settings": placement.settings,
        "position": placement.position,
        "installation": str(placement.installation_id),
        "definition": str(placement.definition_id),
        **more,
    }


def may_undo(request: MerchantRequest, page: SitePage) -> bool:
    return bool(request.session.get(KEY, {}).get("page") == str(page.pk))


def undo(request: MerchantRequest, page: SitePage) -> str | None:
    """Undo the last change of this page. Returns the block to show, None for none.

    Raises `NotFound` if there is no such change, or its block is gone; `Conflict` if the app is.
    """
    if not may_undo(request, page):
        raise NotFound("There is no change to undo.")
    last = request.session.pop(KEY)
    if last["act"] == REMOVED:
        return str(_put_back(request, page, last).pk)
    placement = Placement.objects.filter(pk=last["block"], page=page).first()
    if placement is None:
        raise NotFound("The block is gone.")
    if last["act"] == ADDED:
        placements.remove_block(placement=placement)
        return None
    if last["act"] == MOVED:
        placements.move_block(placement=placement, by=last["by"])
    else:
        placements.save_block_settings(placement=placement, settings=last["settings"])
    return str(placement.pk)


def _put_back(request: MerchantRequest, page: SitePage, last: dict[str, Any]) -> Placement:
    definition = Definition.objects.filter(pk=last["definition"]).first()
    if definition is None:
        raise NotFound("The block is gone.")
    made = placements.add_block(
        page=page,
        installation=own_installation([page.business], last["installation"]),
        definition=definition,
        settings=last["settings"],
    )
    placements.move_block(placement=made, by=last["position"] - made.position)
    return made

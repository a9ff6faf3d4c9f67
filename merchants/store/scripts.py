"""What runs on a store's checkout pages, as a page and as CSV."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

from django.http import HttpResponse
from django.shortcuts import render

from common.web.csv_files import CsvLines
from common.web.methods import require_safe
from extensions.in_store.embeds_and_blocks import embeds_among
from extensions.in_store.script_inventory import Entry, Inventory, inventory_of
from merchants.access import MerchantRequest, merchant_page

COLUMNS: Final = (
    "Kind", "Address", "Name", "Whose", "Why", "Since", "SHA-256", "Pinned to", "Bytes", "Last change", "Last look", "State",
)  # fmt: skip


@require_safe
@merchant_page
def scripts(request: MerchantRequest) -> HttpResponse:
    return render(request, "merchants/store/scripts.html", {"inventory": _inventory(request)})


@require_safe
@merchant_page
def export(request: MerchantRequest) -> HttpResponse:
    """The same as CSV, for an assessor."""
    lines = "".join(_lines(_inventory(request), request.business.timezone))
    response = HttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="scripts-{request.business.slug}.csv"'
    return response


def _inventory(request: MerchantRequest) -> Inventory:
    of_apps = [embed for app in request.apps for embed in app.embeds]
    return inventory_of(request.business, embeds_among(of_apps))


def _lines(inventory: Inventory, timezone: str) -> Iterator[str]:
    file, zone = CsvLines(), ZoneInfo(timezone)
    yield "\ufeff"  # by which spreadsheets recognize UTF-8
    yield file.line(COLUMNS)
    for each in inventory.entries:
        yield file.line(_values(each, zone))


def _values(each: Entry, zone: ZoneInfo) -> list[Any]:
    def local(moment: datetime | None) -> str:
        return moment.astimezone(zone).isoformat(sep=" ", timespec="seconds") if moment else ""

    return [
        each.kind,
        each.url,
        each.name,
        each.owner,
        each.why,
        local(each.since),
        each.sha256,
        each.pin,
        "" if each.size is None else each.size,
        local(each.changed_at),
        local(each.seen_at),
        state_of(each),
    ]


def state_of(each: Entry) -> str:
    if each.is_held_back:
        return "Not on pages: it isn’t what its developer pinned"
    return f"Not reached at the last look: {each.problem}" if each.problem else "On pages"

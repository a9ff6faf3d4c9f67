"""The canvas of the page editor: a site page in its store's own frame, as a document for `srcdoc`.

It has the platform's origin and this page's policy. Scripts and widgets of apps aren't in it, since they run on the stores' hosts
alone. Blocks are, in frames of their apps' origins.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import get_script_prefix, get_urlconf, reverse, set_script_prefix, set_urlconf

from accounts.models import Business
from common.languages import language_of, speaking
from extensions.in_store.embeds_and_blocks import PlacedBlock
from merchants.access import MerchantRequest
from stores import queries
from stores.addresses import store_root
from stores.models import SitePage

# What the pages of a store have of the shopper and of the request.
OF_NOBODY: Final = {
    "cart_count": 0,
    "own_orders": (),
    "messages": (),
    "added": (),
    "address_unconfirmed": False,
}


@dataclass(frozen=True, slots=True)
class Shown:
    """What a canvas shows of a page. `chosen` is a placement's id. One that `is_live` can only be looked at."""

    title: str
    content: str
    blocks: list[PlacedBlock]
    chosen: UUID | None = None
    is_live: bool = False


def document(request: MerchantRequest, page: SitePage, shown: Shown) -> str:
    """The HTML of a page of its own."""
    shop = page.business
    context = {
        "shop": shop,
        "look": queries.store_settings(shop),
        "categories": queries.categories(shop),
        "site_pages": queries.names_of_pages(shop),
        "site_page": {"title": shown.title, "content": shown.content},
        "shown": shown,
        "tokens": reverse("merchants:block_tokens", args=[page.pk]),
    }
    with _in_store(shop):
        return render_to_string("merchants/pages/canvas.html", OF_NOBODY | context, request)


@contextmanager
def _in_store(shop: Business) -> Iterator[None]:
    """Addresses and words are those of the store."""
    routes, prefix = get_urlconf(), get_script_prefix()
    set_urlconf(settings.ZONES["stores"]["urlconf"])
    set_script_prefix(store_root(shop.slug))
    try:
        with speaking(language_of(shop.locale)):
            yield
    finally:
        set_urlconf(routes)
        set_script_prefix(prefix)

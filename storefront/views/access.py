"""Shared by all storefront pages: the store that is open, its time zone and its frame."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from accounts.models import Business
from common.errors import NotFound
from common.web.limits.auth_limits import limit_by_address
from storefront.cart import ADDED, ShopperCart
from stores import queries
from stores.hookpoints import ASKED_PER_MINUTE

Page = Callable[..., HttpResponse]

# A store's pages show external pictures: in site pages, of payment methods, and in QR codes of payments.
PICTURE_SOURCES = ["https:", *(["http://127.0.0.1:*", "http://localhost:*"] if settings.DEBUG else [])]


class ShopRequest(HttpRequest):
    """A request behind `shop_page`. `store` is what `storefront.middleware` found, open or not."""

    store: Business | None
    shop: Business
    cart: ShopperCart


def shop_page(view: Page) -> Page:
    """Takes the store of the URL and shows times in its zone. A store that isn't open is a 404.

    A page that the store doesn't have is a 404 within the store's own frame.
    """

    @wraps(view)
    def in_shop(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        shop_request = cast(ShopRequest, request)
        shop = shop_request.store
        if shop is None:
            raise NotFound("There is no store at this address.")
        if not shop.is_open:  # type: ignore[attr-defined]
            raise NotFound(_("This store isn't open yet."))
        shop_request.shop = shop
        shop_request.cart = ShopperCart(request, shop)
        with timezone.override(shop.timezone):
            response = _answer(view, shop_request, *args, **kwargs)
        shop_request.cart.set_cookie(response)
        patch_vary_headers(response, ["Cookie"])
        return response

    policy: Callable[[Page], Page] = cast(Any, csp_update)({"img-src": PICTURE_SOURCES})
    return policy(in_shop)


def limit_asking(request: ShopRequest) -> None:
    """Count a request that makes the store call apps, by the client's network. Raises `TooManyRequests`."""
    limit_by_address(request, "store-checkout", per_minute=ASKED_PER_MINUTE)


def _answer(view: Page, request: ShopRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    try:
        return view(request, *args, **kwargs)
    except NotFound as error:
        if request.get_preferred_type(["application/json", "text/html"]) != "text/html":
            raise
        return shop_render(request, "storefront/not_found.html", {"message": error.message}, status=404)


def shop_render(
    request: ShopRequest, template: str, context: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    """Render a page in the store's frame."""
    shop, notices = request.shop, request.cart.take_notices()
    look = queries.store_settings(shop)
    frame = {
        "shop": shop,
        "look": look,
        "has_hero": look.tagline or look.hero_text or look.hero_picture,
        "categories": queries.categories(shop),
        "site_pages": queries.names_of_pages(shop),
        "cart_count": request.cart.count,
        "own_orders": request.cart.orders,
        "messages": [each for each in notices if each.level != ADDED],
        "added": [each for each in notices if each.level == ADDED],
    }
    return render(request, template, frame | (context or {}), status=status)

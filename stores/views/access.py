"""What every page of a storefront shares: its shop, the shop's time zone and frame."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from csp.decorators import csp_update
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from accounts.models import Business
from common.auth_limits import limit_by_address
from common.errors import NotFound
from stores import queries
from stores.cart import Cart

ASKING_PER_MINUTE = 120

Page = Callable[..., HttpResponse]

# A shop's pages show pictures of others: in a page's own text, of payment methods, of a payment's QR code.
PICTURE_SOURCES = ["https:", *(["http://127.0.0.1:*", "http://localhost:*"] if settings.DEBUG else [])]


class ShopRequest(HttpRequest):
    """A request behind `shop_page`."""

    shop: Business
    cart: Cart


def shop_page(view: Page) -> Page:
    """Finds the shop of the address (404 where there is none) and shows times in its zone.

    What the shop does not have is a 404 within the shop's own frame.
    """

    @wraps(view)
    def in_shop(request: HttpRequest, shop_slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
        shop = Business.objects.filter(slug=shop_slug).first()
        if shop is None:
            raise NotFound("There is no shop at this address.")
        shop_request = cast(ShopRequest, request)
        shop_request.shop = shop
        shop_request.cart = Cart(request.session, shop)
        with timezone.override(shop.timezone):
            return _answer(view, shop_request, *args, **kwargs)

    policy: Callable[[Page], Page] = cast(Any, csp_update)({"img-src": PICTURE_SOURCES})
    return policy(in_shop)


def limit_asking(request: ShopRequest) -> None:
    """Count what makes a shop ask its apps, all of an address together. Raises `TooManyRequests`."""
    limit_by_address(request, "store-checkout", per_minute=ASKING_PER_MINUTE)


def _answer(view: Page, request: ShopRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    try:
        return view(request, *args, **kwargs)
    except NotFound as error:
        if request.get_preferred_type(["application/json", "text/html"]) != "text/html":
            raise
        return shop_render(request, "store/not_found.html", {"message": error.message}, status=404)


def shop_render(
    request: ShopRequest, template: str, context: dict[str, Any] | None = None, status: int = 200
) -> HttpResponse:
    """A page in the shop's frame."""
    shop = request.shop
    frame = {
        "shop": shop,
        "categories": queries.categories(shop),
        "site_pages": queries.published_pages(shop).rows.order_by("title").only("slug", "title"),
        "cart_count": request.cart.count,
        "own_orders": request.cart.orders,
    }
    return render(request, template, frame | (context or {}), status=status)

"""Shared by all storefront pages: the store that is open, its time zone and its frame, and the cart that the browser's cookie identifies."""

import re
import secrets
from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Final, cast
from uuid import UUID

from csp.decorators import csp_update
from django.conf import settings
from django.contrib.messages import SUCCESS
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _

from accounts.models import Business
from common.errors import NotFound
from common.secrets import digest
from common.web.limits import limit_by_address
from storefront.middleware import NO_STORE
from stores import queries
from stores.buyers.attributes import Attributes, merged
from stores.buyers.shoppers import NOBODY, Buyer
from stores.hookpoints import ASKED_PER_MINUTE
from stores.models import Cart, Order, Product
from stores.services import carts
from stores.services.carts import CartLine

Page = Callable[..., HttpResponse]

# A store's pages show external pictures: in site pages, of payment methods, and in QR codes of payments.
PICTURE_SOURCES = ["https:", *(["http://127.0.0.1:*", "http://localhost:*"] if settings.DEBUG else [])]


# The cookie has a random key, and the database its digest. The key is unrelated to any person, sent to this host only, and
# hidden from scripts.

ADDED: Final = SUCCESS + 1  # the level of a notice that leads to the cart
KEY: Final = re.compile(r"[A-Za-z0-9_-]{32}")


class ShopperCart:
    """One shopper's cart in one store, and the orders placed from it."""

    def __init__(self, request: HttpRequest, business: Business) -> None:
        self._business = business
        key = request.COOKIES.get(settings.CART_COOKIE_NAME, "")
        known = queries.carts_of_key(digest(key)) if KEY.fullmatch(key) else []
        self._is_known = bool(known)
        self._cart = next((cart for cart in known if cart.business_id == business.pk), None)
        # A key that no cart has may have been planted by someone who wants to know what is in the cart later.
        self._key = key if known else secrets.token_urlsafe(24)
        self._has_changed = False

    @property
    def digest(self) -> str:
        """Of the key that the browser has, or gets with the first change."""
        return digest(self._key)

    @property
    def session(self) -> str | None:
        """The digest of a key that the browser has had; None for a shopper who changed no cart yet."""
        return self.digest if self._is_known else None

    @property
    def count(self) -> int:
        """The number of items, counting quantities."""
        return sum(line["quantity"] for line in self._cart.lines) if self._cart else 0

    def lines(self) -> list[CartLine]:
        return carts.cart_lines(self._cart) if self._cart else []

    @property
    def orders(self) -> list[dict[str, str]]:
        """The latest orders of this browser, newest first: `{"key", "number", "delivery", "payment"}`."""
        return carts.latest_orders(self._cart) if self._cart else []

    @property
    def buyer(self) -> Buyer:
        """The person who orders from it, as far as the browser knows, with what apps have put there."""
        if self._cart is None:
            return NOBODY
        return Buyer(
            shopper=self._cart.shopper_id,
            proven=self._cart.proven_id,
            attributes=self._cart.attributes,
        )

    def change_attributes(self, owner: str, changes: Mapping[str, Any]) -> tuple[Attributes, dict[str, str]]:
        """Merge what an app sends. Returns what the app has in the cart now, and the problem of each key that isn't taken.

        A cart begins with the first attribute.
        """
        own = self.buyer.attributes.get(owner, {})
        after, problems = merged(own, changes)
        if after == own:
            return after, problems
        cart, problems = carts.change_attributes(
            business=self._business, key=self._key, owner=owner, changes=changes
        )
        self._keep(cart)
        return cart.attributes.get(owner, {}), problems

    def prove(self, order: Order) -> bool:
        """Whether this browser is the first to confirm the order by its mailed link."""
        cart = carts.prove(business=self._business, key=self._key, order=order)
        if cart:
            self._keep(cart)
        return cart is not None

    def add(self, product: Product, quantity: int) -> None:
        """Raises `Conflict` if so many can't be ordered."""
        self._keep(
            carts.add_product(business=self._business, key=self._key, product=product, quantity=quantity)
        )

    def add_again(self, order: Order) -> None:
        self._keep(carts.add_again(business=self._business, key=self._key, order=order))

    def change(self, quantities: dict[UUID, int]) -> None:
        if self._cart:
            self._keep(carts.change_quantities(business=self._business, key=self._key, quantities=quantities))

    def remember(self, order: Order, page_key: str) -> None:
        self._keep(
            carts.remember_order(business=self._business, key=self._key, order=order, page_key=page_key)
        )

    def add_notice(self, level: int, text: str) -> None:
        """Show a message on the next page. `level` is one of Django's message levels."""
        self._keep(carts.add_notice(business=self._business, key=self._key, level=level, text=text))

    def take_notices(self) -> list[Message]:
        kept = carts.take_notices(cart=self._cart) if self._cart else []
        return [Message(level, text) for level, text in kept]

    def set_cookie(self, response: HttpResponse) -> None:
        """Each change renews the cookie's lifetime along with the cart's."""
        if self._has_changed:
            response.set_cookie(
                settings.CART_COOKIE_NAME,
                self._key,
                max_age=carts.KEPT,
                secure=settings.SECURE_BY_TLS,
                httponly=True,
                samesite="Lax",
            )

    def _keep(self, changed: Cart) -> None:
        self._cart, self._has_changed = changed, True


class ShopRequest(HttpRequest):
    """A request behind `shop_page`. `store` is what `storefront.middleware` found, open or not."""

    store: Business | None
    shop: Business
    cart: ShopperCart


def shop_page(view: Page) -> Page:
    """Takes the store of the URL and shows times in its zone. A store that isn't open is a 404.

    The form is read before the page, so that one in another encoding is a 415 also where the page needs nothing of it. A page that the store doesn't have is a 404 within the store's own frame.
    """

    @wraps(view)
    def in_shop(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        shop_request = cast(ShopRequest, request)
        shop = shop_request.store
        if shop is None:
            raise NotFound(NO_STORE)
        if not shop.is_open:  # type: ignore[attr-defined]
            raise NotFound(_("This store isn't open yet."))
        shop_request.shop = shop
        shop_request.cart = ShopperCart(request, shop)
        _read = request.POST
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

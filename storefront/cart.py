"""The cart of a request. The browser's cookie identifies it, and is set when the shopper first changes the cart.

The cookie has a random key, and the database its digest. The key is unrelated to any person, sent to this host only, and
hidden from scripts.
"""

import re
import secrets
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.messages import SUCCESS
from django.contrib.messages.storage.base import Message
from django.http import HttpRequest, HttpResponse

from accounts.models import Business
from common.secrets import digest
from stores import queries
from stores.models import Cart, Order, Product
from stores.services import carts
from stores.services.carts import CartLine

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
        """The latest orders of this browser, newest first: `{"key", "number"}`."""
        return carts.latest_orders(self._cart) if self._cart else []

    def add(self, product: Product, quantity: int) -> None:
        """Raises `Conflict` if so many can't be ordered."""
        self._keep(
            carts.add_product(business=self._business, key=self._key, product=product, quantity=quantity)
        )

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

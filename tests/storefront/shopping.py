"""What a shopper does, over HTTP."""

import re
from html import unescape
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.test import Client

from accounts.models import Business
from stores.models import Product

STORES_HOST = urlsplit(settings.STORES_URL).hostname
HIDDEN = re.compile(r'<input type="hidden" name="(key|offered|seen)" value="([^"]*)">')


class Shopper(Client):
    """A browser of a shopper in one shop. Paths are those below the shop's address."""

    def __init__(self, shop: Business) -> None:
        super().__init__(headers={"accept": "text/html"}, SERVER_NAME=STORES_HOST)
        self.shop = shop

    def at(self, path: str) -> str:
        return f"/store/{self.shop.slug}/{path}"

    def see(self, path: str, status: int = 200) -> str:
        """The page's HTML as text."""
        response = self.get(self.at(path), follow=True)
        assert response.status_code == status
        return text(response)

    def take(self, product: Product, quantity: object = 1) -> Any:
        return self.post(self.at(f"products/{product.slug}/add/"), {"quantity": quantity})

    def checkout_page(self) -> dict[str, str]:
        """Opens the checkout; gives the hidden fields of its form."""
        response = self.get(self.at("checkout/"))
        assert response.status_code == 200, response.headers
        return hidden(response)

    def place(self, page: dict[str, str] | None = None, **fields: Any) -> Any:
        """Fills the checkout (newly opened unless given) for Kim, who picks up and pays cash, and presses the button."""
        kim = {
            "customer_name": "Kim",
            "customer_email": "kim@example.com",
            "delivery_method": "PICKUP",
            "payment_method": "CASH",
        }
        page = self.checkout_page() if page is None else page
        return self.post(self.at("checkout/"), page | kim | fields)


def text(response: Any) -> str:
    return unescape(response.content.decode())


def hidden(response: Any) -> dict[str, str]:
    return dict(HIDDEN.findall(text(response)))

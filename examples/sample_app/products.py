"""A store's products as a list of the page."""

from __future__ import annotations

from html import escape
from typing import Any

from extension_platform_sdk import Page

from .wording import money


def render_products(page: Page, currency: str) -> str:
    """The first page of the store's products; they were read for this page and are kept nowhere."""
    if not page.data:
        return '<p class="empty">The store has no products.</p>'
    rows = "".join(_row(product, currency) for product in page.data)
    which = f"The newest {len(page.data)} of {page.total}" if page.total > len(page.data) else "All of them"
    return f"""<ul class="products">{rows}</ul>
<p class="small">{which}, read just now with this store’s access token. They are not kept here.</p>"""


def _row(product: dict[str, Any], currency: str) -> str:
    return f"""
<li><span>{escape(str(product.get("name", "?")))}</span>
<span class="price">{escape(money(product.get("price"), currency))}</span>
<span class="small">{escape(_stock(product))}</span></li>"""


def _stock(product: dict[str, Any]) -> str:
    if not product.get("isAvailable"):
        return "Not available"
    stock = product.get("stock")
    if stock is None:
        return "Always in stock"
    return f"{stock} in stock" if stock else "Sold out"

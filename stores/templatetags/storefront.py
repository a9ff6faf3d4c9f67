"""What the storefront's templates say in their own way: `{% load storefront %}`."""

import re
from urllib.parse import urlsplit

import segno
from django import template
from django.conf import settings
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from accounts.models import Business
from common.money import display_in
from stores.enums import ProductStatus
from stores.models import Order, Payment, Product
from stores.records import NEUTRAL_PICTURE

register = template.Library()

FEW = 5  # pieces, where the merchant has set no threshold
INLINE_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+")
LOOPBACK = ("127.0.0.1", "localhost")


@register.filter
def money(minor: int, of: Business | Order) -> str:
    """`{{ product.price|money:shop }}`: an amount in the shop's currency, or the order's, in the shop's locale."""
    locale = of.locale if isinstance(of, Business) else of.business.locale
    return display_in(minor, of.currency, locale)


@register.filter
def times(price: int, quantity: int) -> int:
    return price * quantity


@register.filter
def picture(product: Product) -> str:
    return product.image or NEUTRAL_PICTURE


@register.filter
def stock_words(product: Product) -> str:
    """In stock, nearly gone, or that it can't be had."""
    if product.status != ProductStatus.ACTIVE:
        return "No longer sold"
    if not product.is_available:
        return "Not available"
    if product.stock is None or product.stock >= (product.low_stock_threshold or FEW):
        return "In stock"
    return f"Only {product.stock} left" if product.stock else "Sold out"


@register.filter
def web_url(text: str | None) -> str:
    """An address that a page may lead to: HTTPS, or this machine's own with `DEBUG`. Empty for anything else."""
    try:
        parts = urlsplit(text or "")
    except ValueError:
        return ""
    allowed = parts.scheme == "https" or (
        settings.DEBUG and parts.scheme == "http" and parts.hostname in LOOPBACK
    )
    return text or "" if allowed and parts.hostname else ""


@register.simple_tag
def qr_code(payment: Payment) -> SafeString:
    """What an app gave as `qrCode`: a picture (inline, or at an address), or text, of which one is drawn.

    An address that is the payment's own is text, too. What is too long for a QR code is shown as it is.
    """
    content = payment.qr_code
    source = content if INLINE_PICTURE.fullmatch(content) else web_url(content)
    if source and content != payment.payment_url:
        return format_html('<img class="qr" src="{}" alt="QR code of the payment">', source)
    try:
        drawn = segno.make_qr(content, error="m").svg_inline(
            scale=4, omitsize=True, light="#fff", svgclass=None, lineclass=None
        )
    except (segno.DataOverflowError, ValueError):
        return format_html('<code class="qr-text">{}</code>', content)
    # segno's own drawing: the text is in its pattern, not in its markup.
    frame = '<div class="qr" role="img" aria-label="QR code of the payment">{}</div>'
    return format_html(frame, mark_safe(drawn))  # noqa: S308

"""Tags of the storefront's pages: `{% load storefront %}`."""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlsplit

import segno
from django import template
from django.conf import settings
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import Business
from common.templatetags.links import address
from common.web.middleware.policy import allow_frame, allow_script
from extensions.enums import EmbedKind
from extensions.in_store.embeds_and_blocks import StoreEmbed, blocks_on, embeds_on
from stores.buyers.attributes import PUBLIC
from stores.enums import ProductStatus, is_low
from stores.models import Payment, Product, SitePage
from stores.services.carts import shortage

register = template.Library()

FEW = 5  # pieces, where the merchant has set no threshold
INLINE_PICTURE = re.compile(r"data:image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]+")
CURRENT = SafeString(' aria-current="page"')
LOOPBACK = ("127.0.0.1", "localhost")


@register.filter
def stock_words(product: Product) -> str:
    """In stock, nearly sold out, or not available."""
    if product.status != ProductStatus.ACTIVE:
        return _("No longer sold")
    if not product.is_available:
        return _("Not available")
    if product.stock == 0:
        return _("Sold out")
    if not _is_nearly_gone(product):
        return _("In stock")
    left = ngettext("Only %(number)d left", "Only %(number)d left", product.stock or 0)
    return left % {"number": product.stock}


@register.filter
def is_plenty(product: Product) -> bool:
    """Whether it can be ordered and isn't nearly sold out, which is said nowhere but on its page."""
    is_sold = product.status == ProductStatus.ACTIVE and product.is_available and product.stock != 0
    return is_sold and not _is_nearly_gone(product)


def _is_nearly_gone(product: Product) -> bool:
    few = FEW if product.low_stock_threshold is None else product.low_stock_threshold
    return is_low(product.stock, few)


@register.filter
def is_gone(product: Product) -> bool:
    """Whether nothing of it can be ordered now."""
    return bool(shortage(product, 1))


@register.filter
def attribute_name(key: str) -> str:
    """An app's key as a buyer reads it: `public_pickup_time` is “Pickup time”."""
    return key.removeprefix(PUBLIC).replace("_", " ").strip().capitalize() or key


@register.filter
def web_url(text: str | None) -> str:
    """The URL if a page may link to it: HTTPS, or this machine with `DEBUG`. Otherwise empty."""
    try:
        parts = urlsplit(text or "")
    except ValueError:
        return ""
    allowed = parts.scheme == "https" or (
        settings.DEBUG and parts.scheme == "http" and parts.hostname in LOOPBACK
    )
    return text or "" if allowed and parts.hostname else ""


@register.simple_tag
def category_links(categories: Iterable[str], chosen: str) -> SafeString:
    """Those of all pages: a store has dozens."""
    home = address("storefront:home")
    links = (
        (f"{home}?category={quote(each, safe='')}", CURRENT if each == chosen else "", each)
        for each in categories
    )
    return format_html_join("", '<li><a href="{}"{} dir="auto">{}</a></li>', links)


@register.simple_tag
def qr_code(payment: Payment) -> SafeString:
    """An app's `qrCode`: a picture (inline or by URL), or a QR code drawn from its text.

    The payment's own URL counts as text. Text that is too long for a QR code is shown as it is.
    """
    content, name = payment.qr_code, _("QR code of the payment")
    source = content if INLINE_PICTURE.fullmatch(content) else web_url(content)
    if source and content != payment.payment_url:
        return format_html('<img class="qr" src="{}" alt="{}">', source, name)
    try:
        drawn = segno.make_qr(content, error="m").svg_inline(
            scale=4, omitsize=True, light="#fff", svgclass=None, lineclass=None
        )
    except (segno.DataOverflowError, ValueError):
        return format_html('<code class="qr-text">{}</code>', content)
    # segno's own drawing: the text is in its pattern, not in its markup.
    frame = '<div class="qr" role="img" aria-label="{}">{}</div>'
    return format_html(frame, name, mark_safe(drawn))  # noqa: S308


# --- What apps put into the page ------------------------------------------------------------------


@register.inclusion_tag("storefront/scripts.html", takes_context=True)
def app_scripts(context: dict[str, Any], business: Business, position: str) -> dict[str, Any]:
    """The global scripts of a storefront page. `position` is head or body_end, where the script that measures apps is, too."""
    shown = [each for each in _shown(context, business) if each.embed.position == position]
    scripts = [each for each in shown if each.embed.kind == EmbedKind.GLOBAL_SCRIPT]
    for each in scripts:
        allow_script(context["request"], each.embed.url)
    is_measured = bool(_shown(context, business)) or hasattr(context["request"], "shows_blocks")
    return {"scripts": scripts, "business": business, "measured": position == "body_end" and is_measured}


@register.inclusion_tag("storefront/widgets.html", takes_context=True)
def app_widgets(context: dict[str, Any], business: Business) -> dict[str, Any]:
    """The floating widgets of a storefront page, by their corner."""
    widgets = [each for each in _shown(context, business) if each.embed.kind == EmbedKind.FLOATING_WIDGET]
    for each in widgets:
        allow_frame(context["request"], each.embed.url)
    corners = {
        position: [each for each in widgets if each.embed.position == position]
        for position in ("bottom_left", "bottom_right")
    }
    return {"corners": corners, "business": business}


@register.inclusion_tag("storefront/blocks.html", takes_context=True)
def app_blocks(context: dict[str, Any], page: SitePage) -> dict[str, Any]:
    """The blocks of a site page, in their order."""
    blocks = blocks_on(page)
    for each in blocks:
        allow_frame(context["request"], each.block.render_url)
        context["request"].shows_blocks = True
    return {"blocks": blocks, "business": page.business}


def _shown(context: dict[str, Any], business: Business) -> list[StoreEmbed]:
    """The embeds that are switched on, read only once for the three tags of a page."""
    request: HttpRequest = context["request"]
    if not hasattr(request, "shown_embeds"):
        request.shown_embeds = [each for each in embeds_on(business) if each.is_shown]  # type: ignore[attr-defined]
    shown: list[StoreEmbed] = request.shown_embeds  # type: ignore[attr-defined]
    return shown

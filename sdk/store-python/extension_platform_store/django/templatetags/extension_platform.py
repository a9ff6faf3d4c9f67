"""What the shop's pages need to show apps."""

from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from extension_platform_store.django.connection import business_id, setting

register = template.Library()


@register.simple_tag(takes_context=True)
def extension_platform_script(context: dict[str, Any], page: str = "", locale: str = "") -> SafeString:
    """The tag of ``store.js``, with the ``csp_nonce`` of the request where it has one. Nothing until the store is opened."""
    business = business_id()
    if not business:
        return SafeString()
    attributes = {"nonce": getattr(context.get("request"), "csp_nonce", ""), "data-store": business}
    attributes |= {"data-page": page, "data-locale": locale}
    tag = format_html('<script async src="{}/store.js"', setting("URL").rstrip("/"))
    for name, value in attributes.items():
        if value:
            tag += format_html(' {}="{}"', name, value)
    return tag + SafeString("></script>")

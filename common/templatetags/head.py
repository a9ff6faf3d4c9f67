"""The metadata of a page for search engines and link previews."""

from typing import Any

from django import template
from django.utils.text import Truncator

register = template.Library()

DESCRIPTION_LENGTH = 160  # characters that search engines show
MEANT = ("category", "page")  # parameters that make another page; all others only filter or sort


@register.simple_tag(takes_context=True)
def page_in_title(context: dict[str, Any]) -> str:
    """“ · Page 2” on later pages of a list, so that no two pages share a title."""
    request = context.get("request")
    number = request.GET.get("page", "") if request else ""
    return f" · Page {int(number)}" if number.isascii() and number.isdigit() and int(number) > 1 else ""


@register.inclusion_tag("components/meta.html", takes_context=True)
def page_meta(context: dict[str, Any], title: str, description: str, image: str = "") -> dict[str, Any]:
    """Description, canonical address and Open Graph data of a public page. `image` is a path on the same host."""
    request = context["request"]
    query = request.GET.copy()
    for name in set(query) - set(MEANT):
        del query[name]
    address = request.build_absolute_uri(request.path + (f"?{query.urlencode()}" if query else ""))
    return {
        "title": title,
        "description": Truncator(" ".join(description.split())).chars(DESCRIPTION_LENGTH),
        "address": address,
        "image": request.build_absolute_uri(image) if image else "",
    }

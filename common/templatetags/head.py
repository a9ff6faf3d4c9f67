"""The metadata of a page for search engines and link previews."""

from typing import Any
from urllib.parse import urlencode

from django import template
from django.http import HttpRequest
from django.utils.text import Truncator
from django.utils.translation import gettext as _

register = template.Library()

DESCRIPTION_LENGTH = 160  # characters that search engines show


@register.simple_tag(takes_context=True)
def error_in_title(context: dict[str, Any]) -> str:
    """“Error: ” where the page shows a form with errors, which screen readers announce first."""
    form = context.get("form")
    return _("Error: ") if form and form.is_bound and form.errors else ""


@register.simple_tag(takes_context=True)
def page_in_title(context: dict[str, Any]) -> str:
    """“ · Page 2” on later pages of a list, so that no two pages share a title."""
    number = _later_page(context["request"]) if "request" in context else 0
    return _(" · Page %(number)d") % {"number": number} if number else ""


@register.inclusion_tag("components/meta.html", takes_context=True)
def page_meta(
    context: dict[str, Any], title: str, description: str, image: str = "", category: str = ""
) -> dict[str, Any]:
    """Description, canonical address and Open Graph data of a public page. `image` is a path on the same host.

    Of the query, only a category and the number of a list's page make another page; all else filters or sorts.
    """
    request = context["request"]
    query = urlencode([pair for pair in (("category", category), ("page", _later_page(request))) if pair[1]])
    return {
        "title": title,
        "description": Truncator(" ".join(description.split())).chars(DESCRIPTION_LENGTH),
        "address": request.build_absolute_uri(request.path + (f"?{query}" if query else "")),
        "image": request.build_absolute_uri(image) if image else "",
    }


def _later_page(request: HttpRequest) -> int:
    """The number of a list's page, 0 for the first one."""
    number = request.GET.get("page", "")[:9]
    return int(number) if number.isascii() and number.isdigit() and int(number) > 1 else 0

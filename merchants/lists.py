"""What `layouts/list.html` reads of the merchant's lists."""

from typing import Any, Final
from urllib.parse import urlencode

from django import forms
from django.http import HttpRequest
from django.urls import reverse

from common.web.pagination import page_request


def list_context(
    request: HttpRequest, thing: str, icon: str, form: forms.Form | None = None
) -> dict[str, Any]:
    """Of the list of a `thing`, such as "order", which `form` filters. A view adds `rows` and their `total`."""
    return {
        "thing": thing,
        "icon": icon,
        "list_url": reverse(f"merchants:{thing}s") + store_query(request),
        "form": form,
        "filtered": form is not None and any(map(request.GET.get, form.fields)),
        "page_request": page_request(request.GET, default=ROWS, maximum=ROWS),
    }


def store_query(request: HttpRequest, joint: str = "?") -> str:
    """After the address of a link: the store, if that of this page names it."""
    named = request.GET.get(NAMED_BY)
    return f"{joint}{urlencode({NAMED_BY: named})}" if named else ""


NAMED_BY: Final = "store"  # in the address: the slug of the business that the page shows
ROWS: Final = 25  # on a page of a list

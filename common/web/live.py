"""Parts of pages that `static/js/live_part.js` brings up to date while somebody looks at them."""

import hashlib
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render


def live_version(*facts: object) -> str:
    """A short text that changes whenever one of the facts does."""
    return hashlib.sha256("|".join(map(str, facts)).encode()).hexdigest()[:16]


def is_shown(request: HttpRequest, version: str) -> bool:
    return request.GET.get("seen") == version


def live_part(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """The part as HTML, or 204 if the page shows this `version` already."""
    if is_shown(request, context["version"]):
        return HttpResponse(status=204)
    response = render(request, template, context)
    response["X-Live-Version"] = context["version"]
    response["Cache-Control"] = "no-store"
    return response

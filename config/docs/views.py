"""`/docs/`: for everybody, signed in or not."""

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from config.docs.openapi import document_text


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    return published(document_text())


def published(text: bytes, kind: str = "application/json") -> HttpResponse:
    """A file for machines, which pages of other sites may read too."""
    return HttpResponse(
        text,
        content_type=kind,
        headers={"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=300"},
    )

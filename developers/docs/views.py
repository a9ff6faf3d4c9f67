"""`/docs/`, for everyone, signed in or not."""

import orjson
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from developers.docs import calls, guides, reference
from developers.docs.openapi import document_text
from webhooks.catalogue import EVENTS

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def _page(request: HttpRequest, template: str, **context: object) -> HttpResponse:
    shared = {"guides": guides.GUIDES.values(), "groups": reference.groups(), "event_count": len(EVENTS)}
    return render(request, f"developers/docs/{template}.html", shared | context)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return _page(request, "index")


@require_safe
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in guides.GUIDES:
        raise Http404
    html, headings = guides.page(slug)
    return _page(request, "guide", guide=guides.GUIDES[slug], html=html, headings=headings)


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    return _page(request, "overview")


@require_safe
def group(request: HttpRequest, slug: str) -> HttpResponse:
    found = next((each for each in reference.groups() if each.slug == slug), None)
    if found is None:
        raise Http404
    return _page(request, "group", group=found)


@require_safe
def events(request: HttpRequest) -> HttpResponse:
    return _page(request, "events", calls=reference.events())


@require_safe
def hooks(request: HttpRequest) -> HttpResponse:
    return _page(request, "hooks", calls=reference.hooks())


@require_safe
def event_schema(request: HttpRequest, name: str) -> HttpResponse:
    if name not in EVENTS:
        raise Http404
    address = settings.BASE_URL + reverse("docs:event_schema", args=[name])
    schema = {"$schema": DRAFT, "$id": address} | calls.data_schema(EVENTS[name])
    return _published(orjson.dumps(schema, option=orjson.OPT_INDENT_2), "application/schema+json")


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    return _published(document_text(), "application/json")


def _published(text: bytes, kind: str) -> HttpResponse:
    """A file for machines; pages of other sites may read it too."""
    headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=300"}
    return HttpResponse(text, content_type=kind, headers=headers)

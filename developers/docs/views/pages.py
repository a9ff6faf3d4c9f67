"""The pages under `/docs/`, for everyone, signed in or not."""

from datetime import UTC, datetime, time

import orjson
from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed

from common.http import transport
from common.times import duration
from common.web.methods import require_safe
from developers.docs import changelog, errors, guides, limits, navigation, reference, search
from developers.docs.openapi import calls
from developers.docs.openapi.document import document_text
from webhooks.catalogue import EVENTS
from webhooks.engine import retry

DRAFT = "https://json-schema.org/draft/2020-12/schema"


def docs_page(request: HttpRequest, template: str, *, status: int = 200, **context: object) -> HttpResponse:
    parts = navigation.parts()
    entries = [entry for part in parts for entry in part.entries]
    current = next((each for each in entries if request.path.startswith(each.url) and not each.exact), None)
    current = current or next((each for each in entries if each.url == request.path), None)
    shared = {"parts": parts, "current": current, "in_docs": True}
    return render(request, f"developers/docs/{template}.html", shared | context, status=status)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return docs_page(request, "index", event_count=len(EVENTS))


@require_safe
def guide(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in guides.GUIDES:
        raise Http404
    page = guides.page(slug)
    previous, following = navigation.neighbors(request.path)
    return docs_page(
        request,
        "guide",
        guide=guides.GUIDES[slug],
        html=page.html,
        headings=page.headings,
        edited=guides.edited(guides.GUIDES[slug].path),
        previous=previous,
        following=following,
    )


@require_safe
def guide_source(request: HttpRequest, slug: str) -> HttpResponse:
    if slug not in guides.GUIDES:
        raise Http404
    return published(guides.source(slug).encode(), "text/markdown; charset=utf-8")


@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    return docs_page(request, "overview", groups=reference.groups(), base_url=settings.BASE_URL)


@require_safe
def group(request: HttpRequest, slug: str) -> HttpResponse:
    return docs_page(request, "group", group=reference.group_of(slug))


@require_safe
def events(request: HttpRequest) -> HttpResponse:
    waits = ", ".join(duration(wait) for wait in retry.delays())
    timeout = f"{transport.TIMEOUT:g} seconds"
    return docs_page(request, "events", calls=reference.events(), timeout=timeout, waits=waits)


@require_safe
def hooks(request: HttpRequest) -> HttpResponse:
    return docs_page(request, "hooks", calls=reference.hooks())


@require_safe
def error_index(request: HttpRequest) -> HttpResponse:
    return docs_page(
        request,
        "errors",
        example=errors.EXAMPLE,
        statuses=errors.statuses(),
        oauth=errors.OAUTH,
        classes=errors.delivery_classes(),
        outcomes=errors.HOOK_OUTCOMES.items(),
    )


@require_safe
def limit_list(request: HttpRequest) -> HttpResponse:
    return docs_page(request, "limits", groups=limits.groups())


@require_safe
def changes(request: HttpRequest) -> HttpResponse:
    return docs_page(request, "changelog", releases=changelog.releases())


@require_safe
def changes_feed(request: HttpRequest) -> HttpResponse:
    """Atom: an entry for each release."""
    page = settings.BASE_URL + reverse("docs:changelog")
    feed = Atom1Feed(
        title=f"{settings.PLATFORM_NAME}: changes for apps",
        link=page,
        description="What has changed for apps.",
        feed_url=settings.BASE_URL + reverse("docs:changelog_feed"),
        author_name=settings.PLATFORM_NAME,
    )
    for release in changelog.releases():
        if release.day:
            at = datetime.combine(release.day, time(), UTC)
            html = "".join(f"<h2>{part.title}</h2>{part.html}" for part in release.groups)
            feed.add_item(
                release.title,
                f"{page}#{release.ident}",
                html,
                unique_id=f"{page}#{release.ident}",
                pubdate=at,
                updateddate=at,
            )
    return published(feed.writeString("utf-8").encode(), "application/atom+xml; charset=utf-8")


@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    query = request.GET.get("q", "").strip()[: search.MAX_QUERY]
    return docs_page(request, "search", query=query, results=search.search(query))


@require_safe
def event_schema(request: HttpRequest, name: str) -> HttpResponse:
    if name not in EVENTS:
        raise Http404
    address = settings.BASE_URL + reverse("docs:event_schema", args=[name])
    schema = {"$schema": DRAFT, "$id": address} | calls.data_schema(EVENTS[name])
    return published(orjson.dumps(schema, option=orjson.OPT_INDENT_2), "application/schema+json")


@require_safe
def openapi(request: HttpRequest) -> HttpResponse:
    return published(document_text(), "application/json")


def published(text: bytes, kind: str) -> HttpResponse:
    """A file for machines; pages of other sites may read it too."""
    headers = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=300"}
    return HttpResponse(text, content_type=kind, headers=headers)

"""The pages under `/docs/`, for everyone, signed in or not; the guides for programs (https://llmstxt.org); and the page that runs a call of the
app API on a developer's sandbox store.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, time

import orjson
from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_http_methods

from common.errors import NotFound
from common.http import transport
from common.times import duration
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST, require_safe
from developers.docs import changelog, errors, explorer, guides, limits, navigation, reference, search
from developers.docs.openapi import calls
from developers.docs.openapi.document import document_text
from installations.models import Installation
from webhooks.catalogue import EVENTS
from webhooks.engine import retry

DRAFT = "https://json-schema.org/draft/2020-12/schema"
PATH = ("quickstart", "first-app", "webhooks", "blocks", "go-live")  # from nothing to an app in stores


def docs_page(request: HttpRequest, template: str, *, status: int = 200, **context: object) -> HttpResponse:
    parts = navigation.parts()
    entries = [entry for part in parts for entry in part.entries]
    current = next((each for each in entries if request.path.startswith(each.url) and not each.exact), None)
    current = current or next((each for each in entries if each.url == request.path), None)
    shared = {"parts": parts, "current": current, "in_docs": True}
    return render(request, f"developers/docs/{template}.html", shared | context, status=status)


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    return docs_page(request, "index", path=[guides.GUIDES[slug] for slug in PATH])


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


# --- For programs that read before people do ---------------------------------------------------------

ABOUT = (
    "> Third-party apps extend merchants' online stores here. An app installs by OAuth 2.0, calls the app API, receives "
    "signed webhooks, and adds blocks, widgets, checkout hooks and admin pages to stores."
)
PARTS = {
    "Start": guides.START,
    "Tasks": guides.TASKS,
    "Reference": guides.REFERENCE,
    "For merchants": guides.MERCHANTS,
    "For reviewers": guides.REVIEWERS,
}
TEXT = "text/plain; charset=utf-8"


@require_safe
def llms(request: HttpRequest) -> HttpResponse:
    """A title, and lists of links to the guides as Markdown."""
    lines = [_title(), "", ABOUT]
    for name, part in PARTS.items():
        lines += [
            "",
            f"## {name}",
            "",
            *(f"- [{each.title}]({_address(each)}): {each.about}" for each in part),
        ]
    lines += ["", "## For programs", "", *_machine_readable()]
    return published("\n".join([*lines, ""]).encode(), TEXT)


@require_safe
def llms_full(request: HttpRequest) -> HttpResponse:
    """All guides in one text."""
    texts = [guides.source(slug).strip() for slug in guides.GUIDES]
    return published("\n\n".join([_title(), ABOUT, *texts, ""]).encode(), TEXT)


def _title() -> str:
    return f"# {settings.PLATFORM_NAME}"


def _machine_readable() -> Iterator[str]:
    for title, name in (
        ("OpenAPI document", "docs:openapi"),
        ("OAuth metadata (RFC 8414)", "oauth:metadata"),
        ("Python SDK", "sdks:python"),
        ("Node and browser SDKs", "sdks:node"),
    ):
        yield f"- [{title}]({settings.BASE_URL}{reverse(name)})"
    yield f"- [All guides in one text]({settings.BASE_URL}{reverse('llms_full')})"


def _address(guide: guides.Guide) -> str:
    return settings.BASE_URL + reverse("docs:guide_source", args=[guide.slug])


# --- The explorer ------------------------------------------------------------------------------------


@require_http_methods(GET_OR_POST)
def run_call(request: HttpRequest, slug: str, operation: str) -> HttpResponse:
    """GET shows the form, to everyone. POST runs the call, for a developer's own app."""
    group = reference.group_of(slug)
    endpoint = next((each for each in group.endpoints if each.id == operation and each.runnable), None)
    if endpoint is None:
        raise NotFound("There is no such call to run.")
    user = request.user
    if request.method == "POST" and not user.is_authenticated:
        return redirect_to_login(request.path)
    is_developer = user.is_authenticated and user.is_developer
    if request.method == "POST" and not is_developer:
        raise PermissionDenied("The explorer is for developers. Your account has another role.")
    installations = explorer.sandbox_installations(user) if is_developer else []  # type: ignore[arg-type]
    chosen = _chosen(request, installations)
    form = explorer.CallForm(
        endpoint, request.POST if request.method == "POST" else None, ids=explorer.sample_ids(chosen)
    )
    answer = explorer.run(request, chosen, form) if chosen and form.is_bound and form.is_valid() else None
    return docs_page(
        request,
        "run",
        status=UNPROCESSABLE if form.is_bound and not form.is_valid() else 200,
        group=group,
        endpoint=endpoint,
        form=form,
        answer=answer,
        is_developer=is_developer,
        installations=installations,
        chosen=chosen,
        paused=chosen is not None and chosen.paused_at is not None,
    )


def _chosen(request: HttpRequest, installations: list[Installation]) -> Installation | None:
    """The installation of the app that is named, else of the newest install. Raises `NotFound` for another one's app."""
    slug = request.POST.get("app") or request.GET.get("app")
    if not slug:
        return installations[0] if installations and request.method != "POST" else None
    for installation in installations:
        if installation.app.slug == slug:
            return installation
    if request.user.is_authenticated:
        raise NotFound("App not found")
    return None

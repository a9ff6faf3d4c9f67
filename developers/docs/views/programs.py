"""The guides for programs that read before people do: https://llmstxt.org."""

from collections.abc import Iterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from common.web.methods import require_safe
from developers.docs import guides
from developers.docs.views.pages import published

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

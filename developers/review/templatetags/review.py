"""Template tags of the administration: its navigation, and what the review pages show of a submission."""

from datetime import datetime
from typing import Any, Final

from django import template
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timesince import timesince

from common.templatetags.ui import minute
from conformance.enums import Outcome
from developers.review import checks, submissions
from developers.review.risks import Risk, risks_of
from extensions.manifest.changes import summary
from marketplace.enums import ReviewKind
from marketplace.models import ReviewEntry, Submission
from marketplace.queries import REVIEW_DUE
from marketplace.scopes import SCOPES

register = template.Library()
register.filter("summary", summary)
register.filter("kind", submissions.kind)
register.filter("checks_summary", checks.summary_of)

SHOWN: Final = 5
NAMED: Final = 2  # scopes in a row of the queue
OF_WARN: Final = SafeString(' <span class="of-warn">sensitive</span>')
ICONS: Final = {
    "Submission": "clipboard-list",
    "App": "boxes",
    "ReviewEntry": "history",
    "User": "users",
    "Group": "users",
    "Business": "store",
    "SecurityEvent": "shield",
    "Order": "receipt",
    "Product": "package",
    "Webhook": "webhook",
    "Delivery": "send",
    "Erasure": "eraser",
    "Installation": "plug",
    "Mail": "mail",
    "ShopSystem": "store",
}
NAMES: Final = {"Submission": "Review queue", "ReviewEntry": "Review history"}
FIRST: Final = ("Submission", "App", "ReviewEntry")


@register.inclusion_tag("developers/review/nav.html", takes_context=True)
def admin_nav(context: dict[str, Any]) -> dict[str, Any]:
    """The pages of the administration that this person may open, in groups; those of the review first."""
    groups = []
    for app in context.get("available_apps") or ():
        links = [
            (NAMES.get(model["object_name"], model["name"]), model["admin_url"], model["object_name"])
            for model in app["models"]
            if model["admin_url"]
        ]
        links.sort(key=lambda link: FIRST.index(link[2]) if link[2] in FIRST else len(FIRST))
        is_review = app["app_label"] == "marketplace"
        rows = [(words, url, ICONS.get(name, "list")) for words, url, name in links]
        groups.append((not is_review, "Review" if is_review else app["name"], rows))
    groups.sort(key=lambda group: group[0])
    return {"groups": [(name, rows) for _, name, rows in groups if rows], "request": context["request"]}


@register.inclusion_tag("developers/review/apps_of_the_site.html", takes_context=True)
def admin_pages(context: dict[str, Any]) -> dict[str, Any]:
    """What the navigation has, as cards for the home page; without the review, which has a card of its own there."""
    return {"groups": [group for group in admin_nav(context)["groups"] if group[0] != "Review"]}


@register.inclusion_tag("developers/review/waiting.html")
def review_queue() -> dict[str, Any]:
    """The submissions to review next, for the administration's home page."""
    return {"waiting": submissions.waiting()[:SHOWN], "counts": submissions.counts()}


_PILLS: Final = {
    ReviewKind.APPROVED: "ok",
    ReviewKind.REINSTATED: "ok",
    ReviewKind.REJECTED: "bad",
    ReviewKind.SUSPENDED: "bad",
    ReviewKind.HALTED: "bad",
    ReviewKind.TAKEN_BACK: "bad",
}


@register.filter
def entry_pill(entry: ReviewEntry) -> str:
    return _PILLS.get(ReviewKind(entry.kind), "neutral")


@register.filter
def risks(submission: Submission) -> list[Risk]:
    return risks_of(submission)


@register.filter
def due_at(submission: Submission) -> datetime:
    return submission.submitted_at + REVIEW_DUE


@register.filter
def is_overdue(submission: Submission) -> bool:
    return due_at(submission) <= timezone.now()


@register.filter
def checks_kind(submission: Submission) -> str:
    """The kind of the pill for the results of the checks."""
    outcomes = {result.outcome for result in checks.results_of(submission)}
    if Outcome.FAIL in outcomes:
        return "bad"
    if Outcome.WARN in outcomes:
        return "warn"
    return "ok" if outcomes else "neutral"


@register.filter
def since(when: datetime | None) -> SafeString:
    """A date and time, and how long ago it was."""
    if when is None:
        return SafeString("")
    return format_html('{} <span class="faint">({} ago)</span>', minute(when), timesince(when, depth=1))


@register.filter
def scope_list(names: list[str]) -> SafeString:
    """A list of scopes with the sensitive ones marked."""
    lines = format_html_join("", "<li><code>{}</code>{}</li>", ((name, _mark(name)) for name in names))
    return format_html('<ul class="scope-list">{}</ul>', lines) if names else SafeString("None")


@register.filter
def scopes_in_line(names: list[str]) -> SafeString:
    """Two of them, the sensitive ones first, and how many others there are."""
    ordered = sorted(names, key=_is_sensitive, reverse=True)
    shown, others = ordered[:NAMED], ordered[NAMED:]
    said = [format_html("<code>{}</code>{}", name, OF_WARN if _is_sensitive(name) else "") for name in shown]
    if others:
        hidden = sum(map(_is_sensitive, others))
        more = f"{len(others)} more{f' ({hidden} sensitive)' if hidden else ''}"
        said.append(format_html('<span class="faint">{}</span>', more))
    return format_html_join(", ", "{}", ((each,) for each in said)) if said else SafeString("None")


def _is_sensitive(name: str) -> bool:
    return name in SCOPES and bool(SCOPES[name].sensitive)


_SENSITIVE = SafeString(' <span class="pill kind-warn">Sensitive</span>')


def _mark(name: str) -> str:
    return _SENSITIVE if _is_sensitive(name) else ""


@register.simple_tag
def filter_choices(change_list: Any, spec: Any) -> list[dict[str, Any]]:
    """The choices of one of the list's filters, with `display`, `query_string` and `selected`."""
    return list(spec.choices(change_list))

"""The parts of the list of deliveries that move by themselves while something is being sent."""

from collections.abc import Mapping
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, QueryDict

from common.web.live import live_part, live_version
from developers.portal.deliveries.log import DeliveryPage
from developers.portal.deliveries.resent import Resent
from webhooks.enums import DeliveryStatus

# Of the list, by the value of `part`.
PARTS: Final = {
    "rows": "developers/portal/deliveries/rows.html",
    "causes": "developers/portal/deliveries/causes.html",
}


def part(request: HttpRequest, name: str, context: dict[str, Any]) -> HttpResponse:
    """A part that changes while deliveries are being sent. The last one says that it is over."""
    version = versions(context)[name]
    response = live_part(request, PARTS[name], context | {"version": version})
    if not moves(context):
        response["X-Live-Over"] = "1"
    return response


def moves(context: Mapping[str, Any]) -> bool:
    """Whether something on the page is being sent right now."""
    resent: Resent | None = context["resent"]
    return bool(resent and resent.waiting) or any(
        each.status == DeliveryStatus.PENDING for each, *_ in context["rows"]
    )


def versions(context: Mapping[str, Any]) -> dict[str, str]:
    rows = [(each.pk, each.status, each.attempt_count) for each, *_ in context["rows"]]
    causes = [(group.cause, len(group.deliveries)) for group in context["groups"]]
    resent: Resent | None = context["resent"]
    return {"rows": live_version(rows), "causes": live_version(causes, resent and resent.text)}


def position(query: QueryDict, page: DeliveryPage | None) -> str:
    """The list's filters, and where in it the page is. New deliveries are offered by a link, so they move no row."""
    given = query.copy()
    for name in ("part", "seen"):
        given.pop(name, None)
    if page and page.deliveries:
        given["newest"] = str(page.deliveries[0].pk)
    return given.urlencode()

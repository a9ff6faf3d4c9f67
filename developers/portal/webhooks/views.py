"""An app's webhooks: their status, a test, pause and resume; and the data erasures sent to its Webhook URL."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from common.db.long_lists import COUNTED_EXACTLY, total_of
from common.db.rows import get_or_not_found
from common.ids import parse_id
from common.strangers import may_wait_for_strangers
from common.times import duration
from common.web.forms.pages import refusals_shown
from common.web.methods import GET_OR_POST, require_safe
from common.web.pagination import page_request
from developers.portal.access import app_page, current_developer
from developers.portal.deliveries import descriptions as delivery_descriptions
from developers.portal.deliveries.log import counted
from developers.portal.sandbox.changes import sample_events
from developers.portal.sandbox.erasures import erasure_rows
from developers.portal.sandbox.erasures import newest_ids as newest_ids_of_erasures
from developers.portal.sandbox.first_calls import registration_call
from developers.portal.webhooks import statuses
from developers.portal.webhooks.last_day_strip import drawn_together
from developers.portal.webhooks.rows import endpoint_rows
from developers.portal.webhooks.statuses import EndpointGroup, WebhookStatus
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from webhooks import health
from webhooks.engine import retry
from webhooks.enums import WAITING
from webhooks.insight.last_day import LastDay, last_days
from webhooks.models import Delivery, Webhook
from webhooks.queries import RepeatedUrl, erasures_of, repeats
from webhooks.services.registration import change_webhook
from webhooks.services.sandbox.testing import send_test

PER_PAGE: Final = 20
ERASURES_PER_PAGE: Final = 25
PAGES_COUNTED: Final = 5  # by the ids that the query of the first one reads


@require_safe
@app_page
def webhook_list(request: HttpRequest, app: App) -> HttpResponse:
    """Endpoints by URL, or those at one (`?url=`). The URL of the page names the test whose result is shown, so that a reload sends nothing."""
    installation = sandbox_installation(app=app, developer=current_developer(request))
    shown = EndpointPage(request, app, installation, statuses.test_result(app, request.GET.get("tested")))
    url = request.GET.get("url", "")
    parts = shown.at_url(url) if url else shown.by_url()
    endpoints = shown.endpoints
    context = parts | {
        "app": app,
        "url": url,
        "failing": [each for each in endpoints if each.disables_at],
        "repeats": _repeats(endpoints),
        "installation": installation,
        "sample_events": sample_events(installation) if installation else (),
        "curl": registration_call(app),
        "plan": delivery_descriptions.retry_schedule(),
        "most_attempts": len(retry.delays()) + 1,
        "disabled_when": (health.GONE, health.FAILED),
        "warned_after": f"{duration(health.WARNED_AFTER)} and {duration(health.WARNED_AGAIN_AFTER)}",
    }
    return render(request, "developers/portal/webhooks/list.html", context)


@dataclass
class EndpointPage:
    """A page of the list. `endpoints` are those that it shows."""

    request: HttpRequest
    app: App
    own: Installation | None
    tested: dict[str, Any]
    endpoints: list[WebhookStatus] = field(default_factory=list)

    def by_url(self) -> dict[str, Any]:
        """A row for each URL, however many stores have an endpoint there."""
        wanted = page_request(self.request.GET, default=PER_PAGE, maximum=PER_PAGE)
        most = PAGES_COUNTED * wanted.limit + 1 if wanted.page == 1 else wanted.limit
        reader = statuses.EndpointReader(self.app)
        found = reader.groups(limit=most, offset=wanted.offset)
        is_all = wanted.page == 1 and len(found) < most
        shown = found[: wanted.limit]
        first = self.tested["tested"].delivery.webhook_id if self.tested else None
        ids = reader.ids(shown, first)
        days = last_days([pk for each in ids.values() for pk in each])
        listed = [pk for each in ids.values() for pk in each[: statuses.SHOWN]]
        by_id = {each.webhook.pk: each for each in statuses.webhook_statuses(self.app, listed, days)}
        rows = []
        for group in shown:
            of_group = ids[group.url, group.is_app_defined]
            self.endpoints += (here := [by_id[pk] for pk in of_group[: statuses.SHOWN] if pk in by_id])
            rows.append(
                self._group(
                    group,
                    here,
                    [days[pk] for pk in of_group],
                    is_open=reader.number == 1 or first in of_group,
                )
            )
        total = len(found) if is_all else reader.number_of_groups()
        return {"groups": rows, "number": reader.number, "total": total, "page_request": wanted, "ends": ()}

    def _group(
        self, group: EndpointGroup, shown: list[WebhookStatus], days: list[LastDay], *, is_open: bool
    ) -> dict[str, Any]:
        is_single = group.number == 1
        return {
            "url": group.url,
            "is_app_defined": group.is_app_defined,
            "is_single": is_single,
            "is_open": is_open,
            "number": group.number,
            "troubled": group.troubled,
            "rest": group.number - len(shown),
            "strip": "" if is_single or group.number > statuses.RATED else drawn_together(days),
            "rows": endpoint_rows(
                self.request, self.app, shown, self.own, self.tested,
                is_open=is_single and is_open, at_one_url=not is_single,
            ),
        }  # fmt: skip

    def at_url(self, url: str) -> dict[str, Any]:
        """Those at one URL, of each store that has one."""
        wanted = page_request(self.request.GET, default=PER_PAGE, maximum=PER_PAGE)
        there = statuses.current_webhooks(self.app).filter(url=url)
        before, after = (parse_id(self.request.GET.get(name)) for name in ("before", "after"))
        is_first = wanted.page == 1 and not (before or after)
        most = PAGES_COUNTED * wanted.limit + 1 if is_first else wanted.limit
        total = 0 if is_first else total_of(there, is_long=True)
        found = statuses.newest_ids(
            self.app, url=url, limit=most, offset=wanted.offset, before=before, after=after,
            is_long=total > COUNTED_EXACTLY,
        )  # fmt: skip
        if is_first:
            total = len(found) if len(found) < most else total_of(there, is_long=True)
        shown = found[: wanted.limit]
        self.endpoints = statuses.webhook_statuses(self.app, shown)
        rows = endpoint_rows(
            self.request, self.app, self.endpoints, self.own, self.tested, is_open=total == 1, at_one_url=True
        )
        ends = (shown[0], shown[-1]) if shown else ()
        return {"endpoints": rows, "number": total, "total": total, "page_request": wanted, "ends": ends}


def _repeats(endpoints: Iterable[statuses.WebhookStatus]) -> list[tuple[RepeatedUrl, int]]:
    """What endpoints on this page send twice, each with the number of stores where they do."""
    installations = {each.webhook.installation_id: each.webhook.installation for each in endpoints}
    stores = Counter(repeats(installations.values()))
    return list(stores.items())


@may_wait_for_strangers
@require_POST
@app_page
def webhook_test(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    """Waits for the endpoint, at most ten seconds."""
    webhook = _own_webhook(app, webhook_id)
    with refusals_shown(request):
        result = send_test(webhook=webhook)
        return statuses.redirect_to_webhook(app, webhook, tested=result.event_id)
    return statuses.redirect_to_webhook(app, webhook)


@require_http_methods(GET_OR_POST)
@app_page
def webhook_pause(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    """Asks first, because a pause cancels waiting deliveries."""
    webhook = _own_webhook(app, webhook_id)
    if request.method == "POST":
        _switch(request, webhook, on=False)
        return statuses.redirect_to_webhook(app, webhook)
    waiting = counted(Delivery.objects.filter(webhook=webhook, status__in=WAITING))
    context = {"app": app, "webhook": webhook, "waiting": waiting}
    return render(request, "developers/portal/webhooks/pause.html", context)


@require_POST
@app_page
def webhook_resume(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    webhook = _own_webhook(app, webhook_id)
    _switch(request, webhook, on=True)
    return statuses.redirect_to_webhook(app, webhook)


def _own_webhook(app: App, webhook_id: str) -> Webhook:
    """Raises `NotFound`, also if the webhook is deleted, another app's, or its installation has ended."""
    return get_or_not_found(statuses.current_webhooks(app), webhook_id, "Webhook not found")


def _switch(request: HttpRequest, webhook: Webhook, *, on: bool) -> None:
    with refusals_shown(request):
        change_webhook(webhook=webhook, changes={"is_active": on})
        messages.success(request, f"{webhook.url} {'receives new events again' if on else 'is paused'}.")


@require_safe
@app_page
def erasure_list(request: HttpRequest, app: App) -> HttpResponse:
    wanted = page_request(request.GET, default=ERASURES_PER_PAGE)
    most = PAGES_COUNTED * wanted.limit + 1 if wanted.page == 1 else wanted.limit
    found = newest_ids_of_erasures(app, limit=most, offset=wanted.offset)
    is_all = wanted.page == 1 and len(found) < most
    context = {
        "app": app,
        "delay": settings.DATA_ERASURE_DELAY,
        "erasures": erasure_rows(app, found[: wanted.limit]),
        "total": len(found) if is_all else total_of(erasures_of(app)),
        "page_request": wanted,
    }
    return render(request, "developers/portal/sandbox/erasures.html", context)

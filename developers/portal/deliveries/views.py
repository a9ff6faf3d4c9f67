"""Deliveries to an app: the list, one delivery with its attempts, and resending."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from common.db.transactions import of_one_moment
from common.errors import Conflict
from common.ids import parse_id
from common.templatetags.rows import first_day
from common.times import duration
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE, refusals_shown
from common.web.live import live_part, live_version
from common.web.methods import GET_OR_POST, require_safe
from developers.portal.access import app_page, current_developer
from developers.portal.deliveries import descriptions as delivery_descriptions
from developers.portal.deliveries import forms
from developers.portal.deliveries import log as delivery_log
from developers.portal.deliveries.descriptions import differing_fields, differing_headers
from developers.portal.deliveries.log import DeliveryPage
from developers.portal.deliveries.resent import Resent, is_remembered, remember, resent_of
from developers.portal.deliveries.rows import FailureGroup, delivery_rows, group_of, groups
from developers.portal.sandbox.changes import sample_events
from installations.queries import sandbox_installation
from marketplace.models import App
from webhooks import catalogue
from webhooks.engine import retry
from webhooks.enums import WAITING
from webhooks.insight.diagnosis import diagnose, headline
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.queries import DeliveryRow, may_read_payload, resend_refusal
from webhooks.services.deliveries import RECOVERED_PER_SECOND, recover, redeliver

SOON: Final = timedelta(minutes=1)  # A retry within this time is waited for.
MAX_ENDPOINTS: Final = 100  # that one recovery resends to
SEARCH_NOTE: Final = (
    "At most the newest {:,} deliveries are searched. Choose an earlier time to search older ones."
)


@require_safe
@app_page
def delivery_list(request: HttpRequest, app: App) -> HttpResponse:
    return _list(request, app)


def _list(request: HttpRequest, app: App, *, selection: forms.SelectionForm | None = None) -> HttpResponse:
    """The list. `selection` is a form that resent nothing: the rows that it selects, or what is wrong."""
    webhooks = _choices(app, request.GET)
    form = forms.FilterForm(request.GET, webhooks=webhooks)
    filters = form.filters() if form.is_valid() else None
    before, after, newest = (parse_id(request.GET.get(name)) for name in ("before", "after", "newest"))
    has_causes = not (filters or before or after)

    def read() -> tuple[DeliveryPage | None, list[FailureGroup], Resent | None]:
        page = None
        if filters is not None:
            page = delivery_log.page(app, filters, before=before, after=after, newest=newest)
        return page, groups(app) if page and has_causes else [], resent_of(request, app)

    page, failing, resent = of_one_moment(read) if has_causes or is_remembered(request) else read()
    oldest, installed = delivery_log.oldest_time_and_installed(app)
    context = {
        "app": app,
        "form": form,
        "selection": selection,
        **_table(app, page, selection),
        "choices": [form[name] for name in ("status", "event", "webhook", "installation", "range")],
        "beyond": before is not None or after is not None,
        "installed": installed,
        "most_attempts": len(retry.delays()) + 1,
        "filters": filters,
        "search_note": SEARCH_NOTE.format(searched)
        if filters and (searched := delivery_log.searched(filters))
        else "",
        "is_first_page": page is not None and not page.has_newer,
        "groups": failing,
        "query": form.query_string,
        "has_webhooks": bool(webhooks),
        "oldest": oldest,
        "plan": delivery_descriptions.retry_schedule(),
        "resent": resent,
    }
    if request.GET.get("part") == "live":
        return parts(request, context)
    own_install = sandbox_installation(app=app, developer=current_developer(request))
    context |= {
        "own_install": own_install,
        "sample_events": sample_events(own_install) if own_install else (),
    }
    context["live"] = version(context) if moves(context) else ""
    context["live_query"] = position(request.GET, page)
    status = 200 if form.is_valid() and not (selection and selection.errors) else UNPROCESSABLE
    return render(request, "developers/portal/deliveries/list.html", context, status=status)


def _table(app: App, page: DeliveryPage | None, selection: forms.SelectionForm | None) -> dict[str, Any]:
    """The page's rows, selected where `selection` names them, and the day that the first of them is of."""
    selected = selection.cleaned_data.get("delivery", ()) if selection and selection.is_valid() else ()
    deliveries = page.deliveries if page else ()
    return {
        "page": page,
        "rows": delivery_rows(app, deliveries, selected),
        "first_day": first_day(deliveries[0].created_at if deliveries else None),
    }


@require_safe
@app_page
def delivery_news(request: HttpRequest, app: App) -> HttpResponse:
    form = forms.FilterForm(request.GET, webhooks=_choices(app, request.GET))
    after = parse_id(request.GET.get("after"))
    return forms.news(
        form, after, lambda after: delivery_log.count(app, form.filters(), after=after, most=forms.MAX_NEW)
    )


@require_safe
@app_page
def delivery(request: HttpRequest, app: App, delivery_id: str) -> HttpResponse:
    """Never cached, because it contains a signed request and a store's data."""
    shown = delivery_log.own_delivery(app, delivery_id)
    attempts = delivery_log.attempts_of(shown)
    last = attempts[-1] if attempts else None
    wanted = request.GET.get("attempt", "")
    chosen = next((each for each in attempts if str(each.number) == wanted), last)
    now = timezone.now()
    worked = delivery_log.last_that_worked(shown) if last and last.error_class else None
    context = {
        "app": app,
        "delivery": shown,
        "worked": worked,
        "live": f"{shown.status} {shown.attempt_count}",
        "webhook": shown.webhook,
        "installation": shown.webhook.installation,
        "headline": headline(shown, last),
        "diagnosis": diagnose(last.http_status, last.error_class) if last else None,
        "notice_kind": "warn" if shown.status in WAITING else "bad",
        "tls_command": _tls_command(shown, last),
        "is_test_event": shown.event.type == catalogue.WEBHOOK_TEST,
        "refusal": resend_refusal(shown, now),
        "timeline": delivery_descriptions.timeline(attempts),
        "chosen": chosen,
        "plan": delivery_descriptions.plan(shown),
        "waits": shown.status in WAITING,
        "next_in": delivery_descriptions.next_in(shown, now),
        **_exchange(shown, chosen, now),
    }
    return render(request, "developers/portal/deliveries/delivery.html", context)


def _tls_command(shown: Delivery, last: Attempt | None) -> str:
    is_tls = last is not None and last.error_class == "tls"
    return delivery_descriptions.tls_command(shown.webhook.url) if is_tls else ""


def _exchange(shown: Delivery, chosen: Attempt | None, now: datetime) -> dict[str, Any]:
    """The attempt's request and response; without an attempt, the request alone."""
    if not may_read_payload(shown):
        return {"request_headers": None, **_answer(chosen)}
    sent = delivery_descriptions.request_of(shown, chosen.attempted_at if chosen else now)
    return {
        "request_headers": delivery_descriptions.header_lines(sent),
        "request_body": sent.body.decode(),
        "formatted_body": delivery_descriptions.formatted(sent.body),
        "body_label": f"Body, {len(sent.body):,} bytes",
        "curl": delivery_descriptions.as_curl(delivery_descriptions.request_of(shown, now)),
        **_answer(chosen),
    }


def _answer(chosen: Attempt | None) -> dict[str, Any]:
    if chosen is None:
        return {}
    label = f"{chosen.http_status} in {chosen.duration_ms:,} ms"
    return {
        "chosen_diagnosis": diagnose(chosen.http_status, chosen.error_class),
        "answer_label": label,
        "is_cut": delivery_descriptions.is_cut(chosen),
    }


@require_safe
@app_page
def delivery_compare(request: HttpRequest, app: App, delivery_id: str) -> HttpResponse:
    """What differs between a delivery and the last one to its webhook that worked. Never cached, like both of them."""
    shown = delivery_log.own_delivery(app, delivery_id)
    worked = delivery_log.last_that_worked(shown)
    if worked is None or not may_read_payload(shown):
        return redirect("portal:delivery", app.slug, shown.pk)
    last = delivery_log.attempts_of(shown)[-1:]
    last_worked = delivery_log.attempts_of(worked)[-1:]
    now = timezone.now()
    of_worked, of_shown = (
        delivery_descriptions.request_of(each, attempts[0].attempted_at if attempts else now)
        for each, attempts in ((worked, last_worked), (shown, last))
    )
    context = {
        "app": app,
        "delivery": shown,
        "worked": worked,
        "attempt": last[0] if last else None,
        "worked_attempt": last_worked[0] if last_worked else None,
        "outcome": headline(shown, last[0] if last else None),
        "sizes": (len(of_worked.body), len(of_shown.body)),
        "headers": differing_headers(of_worked, of_shown),
        "fields": differing_fields(of_worked, of_shown),
    }
    return render(request, "developers/portal/deliveries/compare.html", context)


@require_POST
@app_page
def group_resend(request: HttpRequest, app: App) -> HttpResponse:
    """Resends the deliveries of one cause, ten a second to each endpoint."""
    group = group_of(app, request.POST.get("reason", ""), request.POST.get("host", ""))
    if group is None:
        messages.info(request, "Nothing fails for that reason any more.")
        return redirect("portal:deliveries", app.slug)
    sent = 0
    among = group.webhooks
    for webhook in Webhook.objects.filter(pk__in=among).defer("secret"):
        try:
            sent += recover(webhook=webhook, since=group.since, among=among[webhook.pk])
        except Conflict as error:  # disabled or paused a moment ago
            messages.error(request, f"{webhook.url}: {error.message}")
    if sent:
        remember(request, app, group.deliveries)
    return redirect("portal:deliveries", app.slug)


@require_POST
@app_page
def delivery_resend(request: HttpRequest, app: App, delivery_id: str) -> HttpResponse:
    with refusals_shown(request, Conflict):
        redeliver(delivery=delivery_log.own_delivery(app, delivery_id))
        messages.success(request, "The delivery is being resent.")
    return redirect("portal:delivery", app.slug, delivery_id)


@require_http_methods(GET_OR_POST)
@app_page
def deliveries_resend(request: HttpRequest, app: App) -> HttpResponse:
    """Resends the selected deliveries, at most a page of them, and returns to the list with its filters."""
    if (data := typed(request)) is None:
        return _back_to_list(request, app)
    form = forms.SelectionForm(data, most=delivery_log.PAGE)
    if request.method != "POST" or not form.is_valid():
        return _list(request, app, selection=form)
    selected = form.cleaned_data["delivery"]
    refused = ""
    sent = []
    for each in Delivery.objects.filter(pk__in=selected, webhook__installation__app=app).order_by("id"):
        try:
            redeliver(delivery=each)
        except Conflict as error:
            refused = error.message
        else:
            sent.append(each)
    if sent:
        remember(request, app, sent)
    if refused:
        messages.error(request, f"{len(selected) - len(sent)} not resent: {refused}")
    return _back_to_list(request, app)


def _back_to_list(request: HttpRequest, app: App) -> HttpResponse:
    query = forms.FilterForm.given_in(request.GET).urlencode()
    return redirect(f"{resolve_url('portal:deliveries', app.slug)}?{query}")


@require_http_methods(GET_OR_POST)
@app_page
def recover_failed(request: HttpRequest, app: App) -> HttpResponse:
    """Counts failed and held deliveries since a time, then resends them."""
    is_post = request.method == "POST"
    sent = typed(request)
    data = _recover_data(request.GET) if sent is None else sent
    form = forms.RecoverForm(data, webhooks=_choices(app, data))
    if not form.is_valid():
        return render(
            request,
            "developers/portal/deliveries/recover.html",
            {"app": app, "form": form},
            status=UNPROCESSABLE,
        )
    since = form.cleaned_data["since"]
    scope = delivery_log.webhooks_to_recover(
        app, since, webhook=form.cleaned_data["webhook"], most=MAX_ENDPOINTS + 1
    )
    if is_post:
        return _recover(request, app, scope[:MAX_ENDPOINTS], since)
    return render(
        request,
        "developers/portal/deliveries/recover.html",
        {"app": app, "form": form, **_extent(scope, since)},
    )


def _recover(request: HttpRequest, app: App, webhooks: list[Webhook], since: datetime) -> HttpResponse:
    sent = 0
    for webhook in webhooks:
        try:
            sent += recover(webhook=webhook, since=since)
        except Conflict as error:  # disabled or paused a moment ago
            messages.error(request, f"{webhook.url}: {error.message}")
    if sent:
        are = "delivery is" if sent == 1 else "deliveries are"
        pace = f"at most {RECOVERED_PER_SECOND} a second to each endpoint"
        messages.success(request, f"{sent} {are} being resent, {pace}.")
    else:
        messages.info(request, "No failed or held deliveries have been created since then.")
    return redirect("portal:deliveries", app.slug)


def _extent(webhooks: list[Webhook], since: datetime) -> dict[str, Any]:
    """How many deliveries a recovery would resend, counted up to a limit, and how long it takes. One webhook more than
    `MAX_ENDPOINTS` says that there are more.
    """
    counts = delivery_log.counts_to_recover(webhooks[:MAX_ENDPOINTS], since)
    longest = timedelta(seconds=ceil(max((each.number for each in counts), default=0) / RECOVERED_PER_SECOND))
    is_more = any(each.is_more for each in counts) or len(webhooks) > MAX_ENDPOINTS
    return {
        "checked": True,
        "count": delivery_log.Counted(sum(each.number for each in counts), is_more),
        "endpoints": len(counts),
        "counted": delivery_log.MAX_COUNTED,
        "takes": duration(longest),
        "rate": RECOVERED_PER_SECOND,
        "most": MAX_ENDPOINTS,
    }


def _recover_data(query: QueryDict) -> dict[str, str]:
    """Form data from the URL. Without a time, one day ago."""
    day_ago = (timezone.localtime() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    return {"webhook": query.get("webhook") or forms.ALL, "since": query.get("since") or day_ago}


def _choices(app: App, named: Mapping[str, str]) -> list[delivery_log.EndpointChoice]:
    names = (named.get("webhook"), named.get("installation"))
    return delivery_log.endpoints_of(app, most=forms.MAX_CHOICES, named=names)


# What of the list of deliveries moves by itself while something is being sent: the banner, the causes and
# the rows.
#
# They are read at one moment and have one version, so that none says what another denies.


def parts(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    """All of it. The last answer says that it is over."""
    shown = context | {"version": version(context)}
    response = live_part(request, "developers/portal/deliveries/live.html", shown)
    if not moves(context):
        response["X-Live-Over"] = "1"
    return response


def moves(context: Mapping[str, Any], now: datetime | None = None) -> bool:
    """Whether something on the page is being sent right now, or within a minute."""
    resent: Resent | None = context["resent"]
    soon = (now or timezone.now()) + SOON
    return bool(resent and resent.waiting) or any(
        each.status in WAITING and (each.due_at is None or each.due_at <= soon)
        for each in _deliveries(context)
    )


def version(context: Mapping[str, Any]) -> str:
    rows = [(each.pk, each.status, each.attempt_count) for each in _deliveries(context)]
    causes = [(group.cause, len(group.deliveries)) for group in context["groups"]]
    resent: Resent | None = context["resent"]
    return live_version(rows, causes, resent and (resent.title, resent.text))


def _deliveries(context: Mapping[str, Any]) -> list[DeliveryRow]:
    page: DeliveryPage | None = context["page"]
    return page.deliveries if page else []


def position(query: QueryDict, page: DeliveryPage | None) -> str:
    """The list's filters, and where in it the page is. New deliveries are offered by a link, so they move no row."""
    given = query.copy()
    for name in ("part", "seen"):
        given.pop(name, None)
    if page and page.deliveries:
        given["newest"] = str(page.deliveries[0].pk)
    return given.urlencode()

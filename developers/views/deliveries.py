"""What was sent to an app: the list, one delivery with its attempts, and sending again."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render, resolve_url
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.errors import Conflict
from common.ids import parse_id
from developers import delivery_log, delivery_words
from developers.delivery_forms import ALL, MOST_CHOICES, FilterForm, RecoverForm, SelectionForm
from developers.views.access import app_page
from developers.views.apps import GET_OR_POST, UNPROCESSABLE
from marketplace.models import App
from webhooks import catalogue, retry
from webhooks.diagnosis import diagnose, in_short
from webhooks.enums import WAITING
from webhooks.models import Attempt, Delivery, Webhook
from webhooks.services.deliveries import RECOVERED_PER_SECOND, recover, redeliver

MOST_NEW: Final = 100  # that the button for new ones counts
MOST_ENDPOINTS: Final = 100  # to which one press sends again
FILTER_NAMES: Final = ("q", "status", "event", "webhook", "installation", "range", "since", "until")


@require_safe
@app_page
def delivery_list(request: HttpRequest, app: App) -> HttpResponse:
    return _list(request, app)


def _list(request: HttpRequest, app: App, *, selection: SelectionForm | None = None) -> HttpResponse:
    """The list, with what was wrong with ticked rows."""
    webhooks = _choices(app, request.GET)
    form = FilterForm(_filters_of(request.GET), webhooks=webhooks)
    filters = form.filters() if form.is_valid() else None
    before, after = (parse_id(request.GET.get(name)) for name in ("before", "after"))
    page = delivery_log.page(app, filters, before=before, after=after) if filters is not None else None
    context = {
        "app": app,
        "form": form,
        "selection": selection,
        "page": page,
        "rows": [_row(each) for each in page.deliveries] if page else [],
        "choices": [form[name] for name in ("status", "event", "webhook", "installation", "range")],
        "beyond": before is not None or after is not None,
        "installed": app.installations.active().exists(),
        "most_attempts": len(retry.delays()) + 1,
        "filters": filters,
        "is_first_page": page is not None and not page.has_newer,
        "query": _query(request.GET),
        "has_webhooks": bool(webhooks),
        "oldest": delivery_log.oldest_time(app),
        "plan": delivery_words.whole_plan(),
    }
    wrong = not form.is_valid() or selection is not None
    return render(request, "developers/deliveries.html", context, status=UNPROCESSABLE if wrong else 200)


def _row(each: Any) -> tuple[Delivery, Attempt | None, str]:
    """With the last attempt, and what came of it in short."""
    last: Attempt | None = each.last_attempt
    return each, last, in_short(last.http_status, last.error_class) if last else ""


@require_safe
@app_page
def delivery_news(request: HttpRequest, app: App) -> HttpResponse:
    """`{"count": 3}`: how many that fit the filters are newer than `after`; it stops at 100."""
    form = FilterForm(_filters_of(request.GET), webhooks=_choices(app, request.GET))
    after = parse_id(request.GET.get("after"))
    if after is None or not form.is_valid():
        return JsonResponse({"count": 0})
    response = JsonResponse({"count": delivery_log.count(app, form.filters(), after=after, most=MOST_NEW)})
    add_never_cache_headers(response)
    return response


@require_safe
@app_page
def delivery(request: HttpRequest, app: App, delivery_id: str) -> HttpResponse:
    """Kept by no cache: it holds a signed request and what happened in a shop."""
    shown = delivery_log.own_delivery(app, delivery_id)
    attempts = delivery_log.attempts_of(shown)
    last = attempts[-1] if attempts else None
    wanted = request.GET.get("attempt", "")
    chosen = next((each for each in attempts if str(each.number) == wanted), last)
    now = timezone.now()
    context = {
        "app": app,
        "delivery": shown,
        "webhook": shown.webhook,
        "installation": shown.webhook.installation,
        "headline": delivery_words.headline(shown, last),
        "diagnosis": diagnose(last.http_status, last.error_class) if last else None,
        "notice_kind": "warn" if shown.status in WAITING else "bad",
        "tls_command": _tls_command(shown, last),
        "is_test_event": shown.event.type == catalogue.WEBHOOK_TEST,
        "timeline": delivery_words.timeline(attempts),
        "chosen": chosen,
        "plan": delivery_words.plan(shown),
        "waits": shown.status in WAITING,
        "next_in": delivery_words.next_in(shown, now),
        **_exchange(shown, chosen, now),
    }
    response = render(request, "developers/delivery.html", context)
    add_never_cache_headers(response)
    return response


def _tls_command(shown: Delivery, last: Attempt | None) -> str:
    is_tls = last is not None and last.error_class == "tls"
    return delivery_words.tls_command(shown.webhook.url) if is_tls else ""


def _exchange(shown: Delivery, chosen: Attempt | None, now: datetime) -> dict[str, Any]:
    """What was sent in the attempt, and came back; the request alone where none was made yet."""
    if not delivery_words.may_be_shown(shown):
        return {"request_headers": None, **_answer(chosen)}
    sent = delivery_words.request_of(shown, chosen.attempted_at if chosen else now)
    return {
        "request_headers": delivery_words.header_lines(sent),
        "request_body": sent.body.decode(),
        "body_label": f"Body, {len(sent.body):,} bytes",
        "curl": delivery_words.as_curl(delivery_words.request_of(shown, now)),
        **_answer(chosen),
    }


def _answer(chosen: Attempt | None) -> dict[str, Any]:
    if chosen is None:
        return {}
    label = f"{chosen.http_status} in {chosen.duration_ms:,} ms"
    return {"answer_label": label, "is_cut": delivery_words.is_cut(chosen)}


@require_POST
@app_page
def delivery_again(request: HttpRequest, app: App, delivery_id: str) -> HttpResponse:
    try:
        redeliver(delivery=delivery_log.own_delivery(app, delivery_id))
    except Conflict as error:
        messages.error(request, error.message)
    else:
        messages.success(request, "It goes out again now. Reload the page to see what came of it.")
    return redirect("portal:delivery", app.slug, delivery_id)


@require_POST
@app_page
def deliveries_again(request: HttpRequest, app: App) -> HttpResponse:
    """Those that were ticked, at most a page of them; back to the list, filters kept."""
    form = SelectionForm(request.POST, most=delivery_log.PAGE)
    if not form.is_valid():
        return _list(request, app, selection=form)
    ticked = form.cleaned_data["delivery"]
    refused = ""
    sent = 0
    for each in Delivery.objects.filter(pk__in=ticked, webhook__installation__app=app).order_by("id"):
        try:
            redeliver(delivery=each)
        except Conflict as error:
            refused = error.message
        else:
            sent += 1
    if sent:
        messages.success(request, f"{sent} {'goes' if sent == 1 else 'go'} out again now.")
    if refused:
        messages.error(request, f"{len(ticked) - sent} not sent again: {refused}")
    return redirect(f"{resolve_url('portal:deliveries', app.slug)}?{_query(request.GET)}")


@require_http_methods(GET_OR_POST)
@app_page
def recover_failed(request: HttpRequest, app: App) -> HttpResponse:
    """Everything failed or held since a time: says how many, then sends them again."""
    is_post = request.method == "POST"
    data = request.POST if is_post else _recover_data(request.GET)
    form = RecoverForm(data, webhooks=_choices(app, data))
    if not form.is_valid():
        return render(request, "developers/recover.html", {"app": app, "form": form}, status=UNPROCESSABLE)
    since = form.cleaned_data["since"]
    scope = delivery_log.with_given_up(app, since, webhook=form.cleaned_data["webhook"], most=MOST_ENDPOINTS)
    if is_post:
        return _recover(request, app, scope, since)
    return render(request, "developers/recover.html", {"app": app, "form": form, **_extent(scope, since)})


def _recover(request: HttpRequest, app: App, webhooks: list[Webhook], since: datetime) -> HttpResponse:
    sent = 0
    for webhook in webhooks:
        try:
            sent += recover(webhook=webhook, since=since)
        except Conflict as error:  # switched off a moment ago
            messages.error(request, f"{webhook.url}: {error.message}")
    if sent:
        goes = "delivery goes" if sent == 1 else "deliveries go"
        messages.success(
            request, f"{sent} {goes} out again, at most {RECOVERED_PER_SECOND} a second to each endpoint."
        )
    else:
        messages.info(request, "Nothing that failed or is held was found since then.")
    return redirect("portal:deliveries", app.slug)


def _extent(webhooks: list[Webhook], since: datetime) -> dict[str, Any]:
    """How many would go out, counted up to a bound, and how long that takes."""
    counts = [delivery_log.count_given_up(webhook, since) for webhook in webhooks]
    longest = timedelta(seconds=ceil(max(counts, default=0) / RECOVERED_PER_SECOND))
    return {
        "checked": True,
        "count": sum(counts),
        "endpoints": len(counts),
        "is_bound": delivery_log.MOST_COUNTED in counts or len(counts) == MOST_ENDPOINTS,
        "takes": delivery_words.duration(longest),
        "rate": RECOVERED_PER_SECOND,
        "most": MOST_ENDPOINTS,
    }


def _recover_data(query: QueryDict) -> dict[str, str]:
    """From the address; a day back where it names no time."""
    day_ago = (timezone.now() - timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")
    return {"webhook": query.get("webhook") or ALL, "since": query.get("since") or day_ago}


def _choices(app: App, named: Mapping[str, str]) -> list[Webhook]:
    names = (named.get("webhook"), named.get("installation"))
    return delivery_log.some_webhooks(app, most=MOST_CHOICES, named=names)


def _filters_of(query: QueryDict) -> QueryDict:
    filters = QueryDict(mutable=True)
    filters.update({name: str(query[name]) for name in FILTER_NAMES if query.get(name)})
    return filters


def _query(query: QueryDict) -> str:
    """The filters as an address carries them, without the place in the list."""
    return _filters_of(query).urlencode()

"""An app's log: all of it, the API calls, one call, a thread, and the use of scopes."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import cache
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render, resolve_url
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.views.decorators.http import require_http_methods

from activity import feed
from activity.feed import API, CLASSES, FAILED, HOOK, WEBHOOK, ActivityQuery
from activity.threads import thread_of
from activity.use import HOURS, FailedCalls, deprecated_use, failed_calls, scope_use
from common.errors import NotFound
from common.ids import parse_id
from common.templatetags.links import address
from common.templatetags.rows import by_day, first_day
from common.templatetags.ui import row_moment, thousands
from common.text.nesting import indented
from common.web.charts import strip
from common.web.forms.fields import LongChoiceField
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE, refusals_shown
from common.web.methods import GET_OR_POST, require_safe
from developers.portal.access import app_page, current_developer
from developers.portal.deliveries.forms import MAX_CHOICES, MAX_NEW, ListFilters, news, search_field
from developers.portal.deliveries.rows import status_cell, status_of_delivery, store_cell
from developers.portal.requests import descriptions as request_descriptions
from developers.portal.requests.descriptions import OUTCOMES, step_of
from extensions.enums import CallOutcome
from marketplace.models import App
from marketplace.services.apps import update_app

KIND_LABELS: Final = {API: "API calls", HOOK: "Hook calls", WEBHOOK: "Deliveries"}
FILTERS: Final = (
    "kind",
    "status",
    "endpoint",
    "installation",
    "range",
)  # in this order, those that a form has
STEP: Final = 5
ROWS: Final = 25  # a page
COLUMNS: Final = 5  # of the list of API calls; that of all kinds has one more


class LogFilterForm(ListFilters):
    """The filters above the list of everything that an app did and was sent."""

    only = ""

    q = search_field("ID, path or message", max_length=200)
    kind = LongChoiceField(required=False)
    status = LongChoiceField(required=False)
    endpoint = LongChoiceField(required=False)
    installation = LongChoiceField(label="Store", required=False)

    def __init__(
        self, data: Any, *, endpoints: Mapping[str, Sequence[str]], stores: Sequence[tuple[UUID, str]]
    ) -> None:
        super().__init__(data)
        if not self.only:
            self.offer("kind", "Any kind", list(KIND_LABELS.items()))
        statuses = [(FAILED, "Failed"), *((name, name) for name in CLASSES)]
        self.offer("status", "Any status", statuses)
        named = data.get("endpoint", "")
        groups: list[tuple[str, Any]] = [
            (KIND_LABELS[kind], [(name, name) for name in names])
            for kind, names in endpoints.items()
            if names
        ]
        if named.startswith("/") and len(named) <= 120 and named not in endpoints[API]:
            groups.append(("Other", [(named, named)]))
        self.offer("endpoint", "Any endpoint", groups)
        self.offer("installation", "Any store", [(str(pk), name) for pk, name in stores])

    def filters(self, now: datetime | None = None) -> ActivityQuery:
        """The filters of a valid form. A range counts back from `now`."""
        given = self.cleaned_data
        return ActivityQuery(
            kind=self.only or given["kind"],
            status=given["status"],
            endpoint=given["endpoint"],
            installation=UUID(given["installation"]) if given["installation"] else None,
            since=self.since_when(now),
            until=given["until"],
            text=given["q"].strip(),
        )


class CallFilterForm(LogFilterForm):
    """Those above the list of API calls."""

    only = API
    kind = None  # type: ignore[assignment]


@require_safe
@app_page
def log_list(request: HttpRequest, app: App) -> HttpResponse:
    """API calls, hook calls and deliveries, newest first."""
    form = _form(LogFilterForm, app, request.GET)
    context = {"heading": "Logs", "url": "portal:logs", "news_url": "portal:log_news", "of_all_kinds": True}
    context["empty_title"] = "Nothing in the last 7 days"
    return _list(request, app, form, context)


@require_safe
@app_page
def request_list(request: HttpRequest, app: App) -> HttpResponse:
    """API calls alone. The list of all kinds was here before, so a filter for a kind leads to it."""
    if request.GET.get("kind"):
        query = LogFilterForm.given_in(request.GET).urlencode()
        return redirect(f"{resolve_url('portal:logs', app.slug)}?{query}", permanent=True)
    form = _form(CallFilterForm, app, request.GET)
    context = {
        "heading": "API calls",
        "url": "portal:requests",
        "news_url": "portal:request_news",
        "deprecated": deprecated_use(app),
        **failures_of(app),
        "empty_title": "No API calls in the last 7 days",
    }
    return _list(request, app, form, context)


def _list(request: HttpRequest, app: App, form: LogFilterForm, context: dict[str, Any]) -> HttpResponse:
    is_valid = form.is_valid()
    before = feed.parse_position(request.GET.get("before"))
    page = feed.page(app, form.filters(), before=before, limit=ROWS) if is_valid else None
    of_all_kinds = "of_all_kinds" in context
    context |= {
        "app": app,
        "form": form,
        "rows": _rows(app, page.entries, of_all_kinds=of_all_kinds) if page else [],
        "page": page,
        "first_day": first_day(page.entries[0].at if page and page.entries else None),
        "first": page.entries[0].position if page and page.entries else None,
        "last": page.entries[-1].position if page and page.entries else None,
        "choices": [form[name] for name in FILTERS if name in form.fields],
        "beyond": before is not None,
        "query": form.query_string,
        "gaps": feed.gaps_of(app),
        "installed": app.installations.active().exists,  # asked only without rows
    }
    return render(
        request, "developers/portal/requests/list.html", context, status=200 if is_valid else UNPROCESSABLE
    )


@require_safe
@app_page
def log_news(request: HttpRequest, app: App) -> HttpResponse:
    return _news(request, app, LogFilterForm)


@require_safe
@app_page
def request_news(request: HttpRequest, app: App) -> HttpResponse:
    return _news(request, app, CallFilterForm)


def _news(request: HttpRequest, app: App, kind: type[LogFilterForm]) -> HttpResponse:
    form, after = _form(kind, app, request.GET), feed.parse_position(request.GET.get("after"))
    return news(form, after, lambda after: feed.count_newer(app, form.filters(), after=after, most=MAX_NEW))


@require_safe
@app_page
def request_page(request: HttpRequest, app: App, call_id: str) -> HttpResponse:
    """One API call. Never cached, because it contains a store's data."""
    call = feed.call_of_app(app, call_id)
    kind, icon, label = request_descriptions.pill_of(call.status)
    context = {
        "app": app,
        "call": call,
        "installation": call.installation,
        "headline": request_descriptions.headline(call),
        "pill_kind": kind,
        "pill_icon": icon,
        "pill_label": label,
        "explanation": request_descriptions.explain(app, call),
        "commands": request_descriptions.commands(call),
        "request_headers": request_descriptions.request_headers(call),
        "request_body": indented(call.request_body),
        "is_request_cut": request_descriptions.is_cut(call.request_body),
        "response_headers": request_descriptions.response_headers(call),
        "response_body": indented(call.response_body),
        "is_response_cut": request_descriptions.is_cut(call.response_body),
        "curl": request_descriptions.as_curl(call) if call.installation.is_test else "",
    }
    return render(request, "developers/portal/requests/request.html", context)


@require_safe
@app_page
def thread(request: HttpRequest, app: App, thread_id: str) -> HttpResponse:
    """Everything of one thread that the developer may see, of all their apps."""
    wanted = parse_id(thread_id)
    found = thread_of(current_developer(request), wanted) if wanted else None
    if found is None:
        raise NotFound("Thread not found")
    steps = [step_of(step) for step in found.steps]
    context = {
        "app": app,
        "thread": found,
        "steps": steps,
        "of_several": len({each.app for each in steps} - {None}) > 1,
        "stores": {each.store.pk: each.store for each in steps if each.store}.values(),
    }
    return render(request, "developers/portal/requests/thread.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def scopes(request: HttpRequest, app: App) -> HttpResponse:
    """What each scope was used for. POST takes scopes out of the working copy."""
    usage = scope_use(app)
    data = typed(request)
    if request.method == "POST":
        dropped = [each.scope.name for each in usage if each.scope.name in request.POST.getlist("scope")]
        kept = [name for name in app.scopes if name not in dropped]
        if not dropped:
            messages.error(request, "Select the scopes to drop.")
            return redirect("portal:scopes", app.slug)
        with refusals_shown(request):
            update_app(app=app, changes={"scopes": kept})
            messages.success(request, f"Your draft no longer asks for {', '.join(dropped)}.")
        return redirect("portal:scopes", app.slug)
    unused = [each for each in usage if not each.is_used]
    context = {
        "app": app,
        "usage": usage,
        "unused": unused,
        "selected": [each.scope.name for each in unused] if data is None else data.getlist("scope"),
        "approved": app.approved_scopes if app.approved_version else [],
    }
    return render(request, "developers/portal/apps/scopes.html", context)


def _form(kind: type[LogFilterForm], app: App, query: QueryDict) -> LogFilterForm:
    stores = feed.stores_of(app, most=MAX_CHOICES, named=query.get("installation"))
    return kind(query, endpoints=feed.endpoints_of(app, kind.only), stores=stores)


def _rows(
    app: App, entries: Sequence[feed.ActivityEntry], *, of_all_kinds: bool
) -> list[dict[str, Any] | SafeString]:
    """With the heads of their days."""
    rows = [_row(app, entry, of_all_kinds=of_all_kinds) for entry in entries]
    return by_day(rows, [entry.at for entry in entries], COLUMNS + of_all_kinds)


def _row(app: App, entry: feed.ActivityEntry, *, of_all_kinds: bool) -> dict[str, Any]:
    """An entry as the list writes it."""
    row = entry.row
    if entry.kind == feed.API:
        what, kind, link = f"{row.method} {row.path}", "API call", address("portal:request", app.slug, row.pk)
        duration, about = row.duration_ms, row.message
        looks, icon, label = request_descriptions.pill_of(row.status)
        shown = status_cell(looks, label, icon, str(row.status))
    elif entry.kind == feed.HOOK:
        what, kind = row.hook_point, "Hook call"
        link = address("portal:hook_call", app.slug, row.hook_point, row.pk)
        duration, about = row.duration_ms, row.problem
        shown = status_of_call(row.outcome, row.http_status)
    else:
        what, kind, link = row.event_type, "Delivery", address("portal:delivery", app.slug, row.pk)
        duration, about, shown = row.duration_ms, "", status_of_delivery(row)
    return {
        "status": shown,
        "url": link,
        "what": what,
        "about": about and format_html('<span class="faint small cut" title="{0}">{0}</span>', about),
        "kind": _kind_cell(kind) if of_all_kinds else "",
        "store": store_cell(row.store, row.is_test),
        "duration": "—" if duration is None else f"{thousands(duration)} ms",
        "at": row_moment(entry.at),
    }


@cache
def _kind_cell(kind: str) -> SafeString:
    return format_html('<td class="of-kind nowrap">{}</td>', kind)


def status_of_call(outcome: str, http_status: int | None) -> SafeString:
    """Of a call of a hook."""
    kind, icon, label = OUTCOMES[CallOutcome(outcome)]
    return status_cell(kind, label, icon, "" if http_status is None else str(http_status))


# The failed API calls above the log: each error at an endpoint with its hours, and the way to its calls.


def failures_of(app: App) -> dict[str, Any]:
    """For the template: rows of a group, its bars, and the filters that list its calls."""
    rows = [
        (each, strip([_failed(each, number) for number in each.hours], step=STEP), urlencode(_filters(each)))
        for each in failed_calls(app)
    ]
    return {"failures": rows, "strip_width": HOURS * STEP - 2}


def _failed(calls: FailedCalls, number: int) -> tuple[int, int, int]:
    """An hour of the strip: what the platform refused in the color of a warning, what failed in that of a failure."""
    return (0, number, 0) if calls.status < HTTPStatus.INTERNAL_SERVER_ERROR else (0, 0, number)


def _filters(failed: FailedCalls) -> dict[str, str]:
    found = {
        "endpoint": failed.route,
        "status": f"{failed.status // 100}xx",
        "q": failed.code,
        "range": "24h",
    }
    return {name: value for name, value in found.items() if value}

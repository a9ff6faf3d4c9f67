"""An app's log: all of it, the API calls, one call, a thread, and the use of scopes."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods

from activity import feed
from activity.deprecated_use import deprecated_use
from activity.scope_use import scope_use
from activity.threads import thread_of
from common.errors import NotFound, ServiceError
from common.ids import parse_id
from common.text.nesting import indented
from common.web.forms.kept import typed
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST, require_safe
from developers.portal.access import app_page, current_developer
from developers.portal.deliveries.forms import MAX_CHOICES
from developers.portal.filter_forms import MAX_NEW, news
from developers.portal.hooks.views import OUTCOMES
from developers.portal.requests import descriptions as request_descriptions
from developers.portal.requests.failures import failures_of
from developers.portal.requests.forms import FILTERS, CallFilterForm, LogFilterForm
from marketplace.models import App
from marketplace.services.apps import update_app
from webhooks.insight.diagnosis import in_short


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
    page = feed.page(app, form.filters(), before=before) if is_valid else None
    context |= {
        "app": app,
        "form": form,
        "rows": [_row(entry) for entry in page.entries] if page else [],
        "page": page,
        "first": page.entries[0].position if page and page.entries else None,
        "last": page.entries[-1].position if page and page.entries else None,
        "choices": [form[name] for name in FILTERS if name in form.fields],
        "beyond": before is not None,
        "query": form.query_string,
        "gaps": feed.gaps_of(app),
        "installed": app.installations.active().exists(),
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
    kind, icon, label = _pill(call.status)
    context = {
        "app": app,
        "call": call,
        "installation": call.installation,
        "headline": request_descriptions.headline(call),
        "pill_kind": kind,
        "pill_icon": icon,
        "pill_label": label,
        "explanation": request_descriptions.explain(app, call),
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
    context = {
        "app": app,
        "thread": found,
        "steps": [(step, *_look(step)) for step in found.steps],
        "of_several": len({_app_of(step) for step in found.steps} - {None}) > 1,
        "stores": {step.store.pk: step.store for step in found.steps if step.store}.values(),
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
        try:
            update_app(app=app, changes={"scopes": kept})
        except ServiceError as error:
            messages.error(request, error.message)
        else:
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
    installations = feed.installations_of(app, most=MAX_CHOICES, named=query.get("installation"))
    return kind(query, endpoints=feed.endpoints_of(app), installations=installations)


def _row(entry: feed.ActivityEntry) -> dict[str, Any]:
    """What the list shows of an entry: status pill, what was called, outcome in a word, duration, store, link."""
    row = entry.row
    if entry.kind == feed.API:
        what = f"{row.method} {row.path}"
        outcome, duration = str(row.status), row.duration_ms
        pill, name = _pill(row.status), "API call"
        installation = row.installation
    elif entry.kind == feed.HOOK:
        what, name = row.hook_point, "Hook call"
        outcome = "—" if row.http_status is None else str(row.http_status)
        duration, pill, installation = row.duration_ms, OUTCOMES[row.outcome], row.installation
    else:
        last = row.last_attempt
        what, name = row.event.type, "Delivery"
        outcome = in_short(last.http_status, last.error_class) if last else "—"
        duration = last.duration_ms if last else None
        pill, installation = None, row.webhook.installation
    return {
        "entry": entry, "row": row, "what": what, "name": name, "outcome": outcome, "duration": duration,
        "pill": pill, "installation": installation, "store": installation.business,
    }  # fmt: skip


def _pill(status: int) -> tuple[str, str, str]:
    """Kind, icon and label for the status of an API call."""
    if status < 400:
        return "ok", "check", "Succeeded"
    if status == 429:
        return "warn", "clock", "Rate limited"
    return ("bad", "circle-x", "Failed") if status >= 500 else ("warn", "triangle-alert", "Refused")


def _look(step: Any) -> tuple[str, str]:
    """Kind and title of a step in the timeline."""
    row = step.row
    if step.kind == "request":
        return "neutral", "A page or another app’s call"
    if step.kind == "api":
        return _pill(row.status)[0], f"API call: {row.method} {row.path.partition('?')[0]}"
    if step.kind == "hook":
        return OUTCOMES[row.outcome][0], f"Hook call: {row.hook_point}"
    if step.kind == "event":
        return "neutral", f"Event: {row.type}"
    if step.kind == "delivery":
        return "warn", f"Webhook: {row.event.type}"
    is_success = row.http_status is not None and 200 <= row.http_status < 300
    return "ok" if is_success else "bad", f"Webhook: {row.delivery.event.type}, attempt {row.number}"


def _app_of(step: Any) -> Any:
    row = step.row
    if step.kind == "api":
        return row.app_id
    if step.kind == "hook":
        return row.installation.app_id
    if step.kind == "delivery":
        return row.webhook.installation.app_id
    return row.delivery.webhook.installation.app_id if step.kind == "attempt" else None

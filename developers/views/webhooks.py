"""An app's webhooks: how each one stands, a test, pause and resume."""

from typing import Any, Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.errors import ServiceError
from common.pages import page_request
from developers import delivery_words, webhook_overview
from developers.first_calls import registration_call
from developers.views.access import app_page, current_developer
from developers.views.apps import GET_OR_POST
from installations.queries import sandbox_installation
from marketplace.models import App
from webhooks.diagnosis import diagnose
from webhooks.models import Webhook
from webhooks.services.registration import change_webhook
from webhooks.services.testing import send_test

PER_PAGE: Final = 20


@require_safe
@app_page
def webhook_list(request: HttpRequest, app: App) -> HttpResponse:
    """The address names the test whose answer is shown, so that a reload sends nothing."""
    wanted = page_request(request.GET, default=PER_PAGE, maximum=PER_PAGE)
    webhooks = webhook_overview.current_webhooks(app)
    standings = webhook_overview.standings(webhooks[wanted.window])
    context = {
        "app": app,
        "standings": standings,
        "failing": [each for each in standings if each.disables_at],
        "total": webhooks.count(),
        "page_request": wanted,
        **_tested(app, request),
        "installation": sandbox_installation(app=app, developer=current_developer(request)),
        "curl": registration_call(app),
        "plan": delivery_words.whole_plan(),
    }
    return render(request, "developers/webhooks.html", context)


def _tested(app: App, request: HttpRequest) -> dict[str, Any]:
    """The answer to the test that the address names."""
    attempt = webhook_overview.test_result(app, request.GET.get("tested"))
    if attempt is None:
        return {}
    diagnosis = diagnose(attempt.http_status, attempt.error_class)
    seen = diagnosis.seen if diagnosis else f"your endpoint answered {attempt.http_status}"
    headline = f"{'Failed' if diagnosis else 'It works'}: {seen}, after {attempt.duration_ms:,} ms"
    return {"tested": attempt, "tested_headline": headline, "tested_diagnosis": diagnosis}


@require_POST
@app_page
def webhook_test(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    """Takes up to ten seconds, as long as the endpoint does."""
    webhook = webhook_overview.own_webhook(app, webhook_id)
    return _back(app, webhook, tested=send_test(webhook=webhook).event_id)


@require_http_methods(GET_OR_POST)
@app_page
def webhook_pause(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    """Asks first: what waits is not sent any more."""
    webhook = webhook_overview.own_webhook(app, webhook_id)
    if request.method == "POST":
        _switch(request, webhook, on=False)
        return _back(app, webhook)
    context = {"app": app, "webhook": webhook, "waiting": webhook_overview.count_waiting(webhook)}
    return render(request, "developers/webhook_pause.html", context)


@require_POST
@app_page
def webhook_resume(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    webhook = webhook_overview.own_webhook(app, webhook_id)
    _switch(request, webhook, on=True)
    return _back(app, webhook)


def _switch(request: HttpRequest, webhook: Webhook, *, on: bool) -> None:
    try:
        change_webhook(webhook=webhook, changes={"is_active": on})
    except ServiceError as error:
        messages.error(request, error.message)
    else:
        words = "is switched on again. New events go out to it." if on else "is paused."
        messages.success(request, f"{webhook.url} {words}")


def _back(app: App, webhook: Webhook, **query: Any) -> HttpResponse:
    found = "".join(f"?{name}={value}" for name, value in query.items())
    return redirect(f"{resolve_url('portal:webhooks', app.slug)}{found}#webhook-{webhook.pk}")

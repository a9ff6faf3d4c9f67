"""Adding, editing and deleting the webhook endpoints of an app's installation on its developer's sandbox store."""

from datetime import datetime
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.http import require_http_methods

from common.errors import NotFound, ServiceError
from common.strangers import may_wait_for_strangers
from common.web.forms.kept import typed
from common.web.forms.pages import form_page, saved
from common.web.methods import GET_OR_POST
from developers.portal.access import app_page, current_developer
from developers.portal.deliveries.log import counted
from developers.portal.webhooks.filter_field import is_previewed
from developers.portal.webhooks.forms import EditWebhookForm, NewWebhookForm
from developers.portal.webhooks.last_day_strip import Strip
from developers.portal.webhooks.statuses import redirect_to_webhook, test_result
from installations.models import Installation
from installations.queries import sandbox_installation
from marketplace.models import App
from webhooks.enums import WAITING, DeliveryStatus
from webhooks.insight.last_day import last_days
from webhooks.models import Delivery, Webhook
from webhooks.queries import repeats, webhook_of
from webhooks.services.registration import MAX_WEBHOOKS, change_webhook, create_webhook, delete_webhook
from webhooks.services.sandbox.testing import send_test

ALREADY_ADDED: Final = (
    "This endpoint was added before, and its secret was shown then. If you didn't store the secret, delete the endpoint "
    "and add it again."
)


@may_wait_for_strangers
@require_http_methods(GET_OR_POST)
@app_page
def webhook_add(request: HttpRequest, app: App) -> HttpResponse:
    """Shows the new endpoint's secret, once, with its response to a first `webhook.test`."""
    installation = sandbox_installation(app=app, developer=current_developer(request))
    if installation is None:
        return redirect("portal:webhooks", app.slug)
    form = NewWebhookForm(typed(request), installation=installation)

    def again(first: datetime) -> HttpResponse:
        messages.warning(request, ALREADY_ADDED)
        return redirect("portal:webhooks", app.slug)

    is_preview = is_previewed(request)
    if not is_preview and (
        response := saved(request, form, lambda: _add(request, app, installation, form), again=again)
    ):
        return response
    context = {
        "app": app,
        "form": form,
        "installation": installation,
        "most": MAX_WEBHOOKS,
        "trial": form.trial(installation),
        "previewed": is_preview,
    }
    return form_page(request, "developers/portal/webhooks/add.html", context)


def _add(request: HttpRequest, app: App, installation: Installation, form: NewWebhookForm) -> HttpResponse:
    given = form.cleaned_data
    webhook, secret = create_webhook(
        installation=installation,
        url=given["url"],
        events=given["events"],
        filter_=given["filter"],
        description=given["description"],
    )
    webhook.installation = installation
    context = {
        "app": app,
        "webhook": webhook,
        "secret": secret,
        "repeats": [each for each in repeats([installation]) if each.url == webhook.url],
        "next_url": resolve_url("portal:webhooks", app.slug),
        **test_result(app, _ping(request, webhook)),
    }
    return render(request, "developers/portal/webhooks/secret.html", context)


@may_wait_for_strangers
@require_http_methods(GET_OR_POST)
@app_page
def webhook_edit(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    """Sends `webhook.test` after a change, and shows the response beside the endpoint."""
    installation, webhook = _own_endpoint(request, app, webhook_id)
    form = EditWebhookForm(typed(request), installation=installation, webhook=webhook)

    def save() -> HttpResponse:
        changed = change_webhook(webhook=webhook, changes=form.changes)
        messages.success(request, f"{changed.url} was saved.")
        tested = _ping(request, changed)
        return redirect_to_webhook(app, changed, **({"tested": tested} if tested else {}))

    is_preview = is_previewed(request)
    if not is_preview and (response := saved(request, form, save)):
        return response
    context = {
        "app": app,
        "form": form,
        "installation": installation,
        "webhook": webhook,
        "strip": Strip(last_days([webhook.pk])[webhook.pk]),
        "trial": None if webhook.is_app_defined else form.trial(installation),
        "previewed": is_preview,
    }
    return form_page(request, "developers/portal/webhooks/edit.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def webhook_delete(request: HttpRequest, app: App, webhook_id: str) -> HttpResponse:
    """Says what is lost, and asks first."""
    _, webhook = _own_endpoint(request, app, webhook_id)
    if webhook.is_app_defined:
        raise NotFound("Webhook not found")
    if request.method == "POST":
        delete_webhook(webhook=webhook)
        messages.success(request, f"{webhook.url} was deleted.")
        return redirect("portal:webhooks", app.slug)
    context = {
        "app": app,
        "webhook": webhook,
        "unsent": counted(
            Delivery.objects.filter(webhook=webhook, status__in=(*WAITING, DeliveryStatus.HELD))
        ),
    }
    return render(request, "developers/portal/webhooks/delete.html", context)


def _own_endpoint(request: HttpRequest, app: App, webhook_id: str) -> tuple[Installation, Webhook]:
    """Raises `NotFound`, also for an endpoint of another store's installation."""
    installation = sandbox_installation(app=app, developer=current_developer(request))
    if installation is None:
        raise NotFound("Webhook not found")
    webhook = webhook_of(installation, webhook_id)
    webhook.installation = installation
    return installation, webhook


def _ping(request: HttpRequest, webhook: Webhook) -> str | None:
    """The delivery's id. Waits for the endpoint, at most ten seconds."""
    try:
        return str(send_test(webhook=webhook).event_id)
    except ServiceError as error:
        messages.warning(request, f"The endpoint was not tested. {error.message}")
        return None

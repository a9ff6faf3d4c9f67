"""Installed and uninstalled apps of a business: permissions, switches, activity, pause, uninstall, and frames of their admin pages."""

from collections.abc import Set
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import Conflict, NotFound
from common.http.url_policy import origin_of
from common.web.methods import require_safe
from common.web.middleware.policy import allow_frame
from common.web.pagination import page_request
from extensions.addresses import SANDBOX, frame_url
from extensions.enums import ExtensionType
from extensions.in_store.capabilities import placed
from extensions.in_store.switches import controls_of, switched_off
from extensions.models import Placement
from extensions.services.costs import Cost, cost_in
from extensions.services.extension_states import change_controls
from extensions.session_tokens import session_token
from installations import services
from installations.enums import HistoryKind
from installations.models import Installation
from installations.queries import granted_by, history_of, installations_of
from marketplace.scopes import SCOPES
from merchants.access import MerchantRequest, active_page, app_page, installation_page, merchant_page
from merchants.consent.question import question_of
from merchants.installed.activity import done_by
from merchants.installed.app import InstalledApp
from merchants.installed.controls_form import ControlsForm
from merchants.installed.hook_descriptions import AtCheckout, at_checkout
from webhooks.queries import erasure_story


@require_safe
@merchant_page
def installed(request: MerchantRequest) -> HttpResponse:
    """Open requests come first."""
    of_business = installations_of(request.business)
    past = of_business.exclude(uninstalled_at=None).order_by("-uninstalled_at", "-id")
    wanted = page_request(request.GET, default=20)
    asking = [each for each in request.apps if each.status.asks]
    context = {
        "questions": [question_of(each, granted_by(each.installation)) for each in asking],
        "past": past[wanted.window],
        "past_total": past.count(),
        "page_request": wanted,
    }
    return render(request, "merchants/installed/installed.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@app_page
def installation(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """What the app needs and did, what it costs and may do, with its switches; POST saves them."""
    installation, off = app.installation, switched_off(app.installation)
    controls = controls_of(installation, app.definitions, off)
    form = ControlsForm(controls, request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        change_controls(installation=installation, **form.changes)
        messages.success(request, "Saved.")
        return redirect("merchants:installation", installation.pk)
    entries = granted_by(installation)
    parts = at_checkout(app, off)
    context = {
        "app": app,
        "form": form,
        "done": done_by(installation, parts),
        "cost": cost_of(app, parts, off),
        "installation": installation,
        "question": question_of(app, entries),
        "granted": [(SCOPES[name], entries.get(name)) for name in installation.effective_scopes],
    }
    return render(
        request, "merchants/installed/installation.html", context, status=422 if form.is_bound else 200
    )


@require_safe
@app_page
def activity(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """The installation's history, newest first."""
    history = history_of(app.installation).reverse()
    context = {"app": app, "installation": app.installation, "history": history}
    return render(request, "merchants/installed/activity.html", context)


@dataclass(frozen=True, slots=True)
class StoreCost:
    """`pages` is None if the app adds nothing to the store's pages. `waits` are those at checkout, in words."""

    pages: Cost | None
    waits: list[tuple[str, str]]


def cost_of(app: InstalledApp, at_checkout: list[AtCheckout], off: Set[UUID]) -> StoreCost:
    waits = [
        (each.description.title, each.usually)
        for each in at_checkout
        if each.is_on and each.health.p50 is not None
    ]
    return StoreCost(cost_in(app.installation) if _is_on_pages(app, off) else None, waits)


def _is_on_pages(app: InstalledApp, off: Set[UUID]) -> bool:
    is_embedded = any(each.definition.pk not in off for each in app.embeds)
    has_blocks = bool(app.of_type(ExtensionType.BLOCK))
    return is_embedded or (has_blocks and Placement.objects.filter(installation=app.installation).exists())


@require_POST
@active_page
def pause(request: MerchantRequest, installation: Installation) -> HttpResponse:
    with suppress(Conflict):  # uninstalled at this moment: the redirect leads to the receipt
        services.pause(installation=installation, user=request.user)
        messages.success(request, f"{installation.app_fields.name} is paused in {request.business.name}.")
    return redirect("merchants:installation", installation.pk)


@require_POST
@active_page
def resume(request: MerchantRequest, installation: Installation) -> HttpResponse:
    with suppress(Conflict):
        services.resume(installation=installation, user=request.user)
        messages.success(request, f"{installation.app_fields.name} runs again. Held updates are being sent.")
    return redirect("merchants:installation", installation.pk)


@require_http_methods(["GET", "HEAD", "POST"])
@app_page
def uninstall(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """Says what is removed now and later, and asks. Pressing twice uninstalls once."""
    installation = app.installation
    if request.method == "POST":
        return _uninstall(request, installation)
    context = {
        "app": app,
        "installation": installation,
        "placed": placed(installation),
        "scopes": [SCOPES[name] for name in installation.effective_scopes],
        "erasure_at": timezone.now() + timedelta(seconds=settings.DATA_ERASURE_DELAY),
    }
    return render(request, "merchants/installed/uninstall.html", context)


def _uninstall(request: MerchantRequest, installation: Installation) -> HttpResponse:
    with suppress(Conflict):  # it has already ended; the receipt shows it
        services.uninstall(installation=installation, by=request.user)
    return redirect("merchants:receipt", installation.pk)


@require_safe
@installation_page
def receipt(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """What was granted, by whom and when, what ended, and the state of the data erasure. Kept forever."""
    history = list(history_of(installation))
    ended = next((entry for entry in history if entry.kind == HistoryKind.UNINSTALLED), None)
    held = ended.scopes if ended else installation.effective_scopes
    entries = granted_by(installation)
    context = {
        "installation": installation,
        "granted": [(SCOPES[name], entries.get(name)) for name in held],
        "history": history,
        "ended": ended,
        "now": timezone.now(),
        "story": erasure_story(installation),
    }
    return render(request, "merchants/receipt.html", context)


@require_safe
@app_page
def admin_page(request: MerchantRequest, app: InstalledApp, page_id: str) -> HttpResponse:
    """An app's admin page in its frame. A page that the store doesn't run is a 404.

    While the app is paused, a notice replaces the frame.
    """
    installation = app.installation
    page = next((each for each in app.admin_pages if each.page_id == page_id), None)
    if page is None:
        raise NotFound("This app has no such page.")
    if installation.paused_at is not None:
        context: dict[str, Any] = {"app": app, "installation": installation, "admin_page": page}
        return render(request, "merchants/installed/admin_page_paused.html", context)
    context = {
        "installation": installation,
        "admin_page": page,
        "src": frame_url(page.render_url, installation.business),
        "origin": origin_of(page.render_url),
        "sandbox": SANDBOX,
        "init": _init(request, installation),
    }
    allow_frame(request, page.render_url)
    return render(request, "merchants/installed/admin_page.html", context)


@require_safe
@active_page
def new_session_token(request: MerchantRequest, installation: Installation) -> JsonResponse:
    """A new token for a frame that loads again, because the page's token is valid for one minute.

    Paused, suspended and deleted apps get none.
    """
    if not installation.is_running:
        raise NotFound("The app's pages are switched off.")
    return JsonResponse({"sessionToken": session_token(installation=installation, user=request.user)})


def _init(request: MerchantRequest, installation: Installation) -> dict[str, Any]:
    """The fields of `service:init`."""
    return {
        "businessId": str(installation.business_id),
        "businessName": installation.business.name,
        "role": request.user.role,
        "locale": installation.business.locale,
        "sessionToken": session_token(installation=installation, user=request.user),
    }

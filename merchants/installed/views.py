"""Installed and uninstalled apps of a business: permissions, switches, cost, activity, their own pages, pausing and uninstalling."""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse, JsonResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.html import escape
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import is_own_sandbox
from accounts.enums import StoreRole
from activity.use import last_uses, unused_since
from common import lengths
from common.errors import Conflict, NotFound
from common.http.url_policy import origin_of
from common.web.forms.edits import EditForm
from common.web.forms.fields import SwitchInput
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST, require_safe
from common.web.middleware.policy import allow_frame
from common.web.pagination import page_request
from extensions.definitions import SANDBOX, frame_url
from extensions.enums import ExtensionType
from extensions.in_store.capabilities import Choices, Controls, choices_of, controls_of, placed
from extensions.services.costs import Cost, cost_in
from extensions.services.extension_states import change_controls
from extensions.session_tokens import session_token
from installations import services
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.queries import granted_by, history_of, installations_of
from marketplace.scopes import SCOPES, Scope
from merchants.access import (
    MerchantRequest,
    active_page,
    active_page_of_app,
    app_page,
    installation_page,
    merchant_page,
    own_page_of_app,
)
from merchants.consent.page import question_of
from merchants.frame import InstalledApp, checkout_concerns
from merchants.installed.activity import AtCheckout, activity_of, at_checkout, parts_in_orders
from merchants.templatetags.installed_apps import app_rows
from webhooks.queries import erasure_story

MOST = "most_discount"
CAP = "Most this app may take off an order (%)"


@require_safe
@merchant_page
def installed(request: MerchantRequest) -> HttpResponse:
    """Open requests come first."""
    of_business = installations_of(request.business)
    past = of_business.exclude(uninstalled_at=None).order_by("-uninstalled_at", "-id")
    wanted = page_request(request.GET, default=20)
    asking = [each for each in request.apps if each.status.asks]
    context = {
        "apps": app_rows(request.apps),
        "concerns": checkout_concerns(request.business),
        "questions": [question_of(each, granted_by(each.installation), with_use=True) for each in asking],
        "past": past[wanted.window],
        "past_total": past.count(),
        "page_request": wanted,
    }
    return render(request, "merchants/installed/installed.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def installation(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """What the app needs and did, what it costs and may do, with its switches; POST saves them."""
    installation, choices = app.installation, choices_of(app.installation)
    controls = controls_of(choices, app.definitions)
    form = ControlsForm(controls, typed(request))

    def save() -> HttpResponse:
        change_controls(installation=installation, **form.changes)
        return done(request, "Saved.", "merchants:installation", installation.pk)

    if response := saved(request, form, save):
        return response
    entries = granted_by(installation)
    parts = at_checkout(app, choices.off)
    done_lately = activity_of(installation, parts)
    context = {
        "app": app.dated(done_lately.works_since),
        "form": form,
        "activity": done_lately,
        "cost": cost_of(app, parts, choices),
        "installation": installation,
        "question": question_of(app, entries),
        "grants": grants_of(installation, entries),
    }
    return form_page(request, "merchants/installed/installation.html", context)


@require_safe
@app_page
def activity(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """The installation's history, newest first, and its part in orders that no other page here shows."""
    history = history_of(app.installation).reverse()
    context = {
        "app": app,
        "installation": app.installation,
        "history": history,
        "parts": parts_in_orders(app.installation),
    }
    return render(request, "merchants/installed/activity.html", context)


# What an installed app costs a store's visitors, in words.


@dataclass(frozen=True, slots=True)
class StoreCost:
    """`pages` is None if the app adds nothing to the store's pages. `wait` is the longest usual one at checkout, in words."""

    pages: Cost | None
    wait: str


def cost_of(app: InstalledApp, at_checkout: list[AtCheckout], choices: Choices) -> StoreCost:
    answered = [each for each in at_checkout if each.is_on and each.health.p50 is not None]
    slowest = max(answered, key=lambda each: each.health.p50 or 0, default=None)
    return StoreCost(
        cost_in(app.installation) if _is_on_pages(app, choices) else None, slowest.usually if slowest else ""
    )


def _is_on_pages(app: InstalledApp, choices: Choices) -> bool:
    is_embedded = any(each.definition.pk not in choices.off for each in app.embeds)
    return is_embedded or (choices.has_placements and bool(app.of_type(ExtensionType.BLOCK)))


@dataclass(frozen=True, slots=True)
class AllowedAtOnce:
    """What was allowed at once. `entry` is None where no record is left of it."""

    entry: HistoryEntry | None
    scopes: list[tuple[Scope, date | None]]  # each with the day of its last use in this store
    unused_since: datetime | None  # from when on a use would be known; None if it isn't

    @property
    def title(self) -> str:
        actor = self.entry.actor if self.entry else None
        return f"Allowed by {actor.name}" if actor else "Allowed"


def grants_of(installation: Installation, entries: Mapping[str, HistoryEntry]) -> list[AllowedAtOnce]:
    """Latest first. `entries` are those of `granted_by`."""
    together: dict[HistoryEntry | None, list[tuple[Scope, date | None]]] = defaultdict(list)
    used = last_uses(installation)
    for name in installation.effective_scopes:
        together[entries.get(name)].append((SCOPES[name], used.get(name)))
    is_logged = bool(entries) and settings.LOG_API_CALLS
    since = unused_since(installation, timezone.now()) if is_logged else None
    grants = [AllowedAtOnce(entry, scopes, since) for entry, scopes in together.items()]
    return sorted(grants, key=lambda each: each.entry.at.timestamp() if each.entry else 0, reverse=True)


class ControlsForm(EditForm):
    """One switch for each capability, labeled with its sentence. A part that came after the page was loaded stays as it is."""

    def __init__(self, controls: Controls, data: QueryDict | None = None) -> None:
        super().__init__(data)
        self.controls = controls
        for each in controls.switches:
            self.fields[each.key] = forms.BooleanField(
                label=each.capability.title,
                help_text=escape(each.capability.detail),  # the template trusts help texts
                initial=each.is_on,
                required=False,
                widget=SwitchInput,
            )
        if controls.most_discount is not None:
            self.fields[MOST] = forms.IntegerField(
                label=CAP,
                help_text="Maximum discount per order, of the price of the products. 100% means no limit.",
                initial=controls.most_discount,
                min_value=0,
                max_value=100,
                error_messages={
                    "required": "Enter a number from 0 to 100.",
                    "invalid": "Enter a whole number.",
                },
            )

    @property
    def has_controls(self) -> bool:
        return bool(self.controls.switches)

    @property
    def changes(self) -> dict[str, Any]:
        """For `change_controls`."""
        changed = super().changes
        switched = {
            definition: changed[each.key]
            for each in self.controls.switches
            if each.key in changed
            for definition in each.capability.definitions
        }
        return {"switched": switched, "most_discount": changed.get(MOST)}


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


class UninstallForm(forms.Form):
    reason = forms.CharField(
        label="Why are you uninstalling?",
        required=False,
        max_length=lengths.NOTE,
        help_text="One line. The app’s developer reads it, with the name of your store.",
    )


@require_http_methods(GET_OR_POST)
@app_page
def uninstall(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """Says what is removed now and later, and asks. Pressing twice uninstalls once."""
    installation = app.installation
    form = UninstallForm(typed(request))
    if response := saved(
        request, form, lambda: _uninstall(request, installation, form.cleaned_data["reason"])
    ):
        return response
    context = {
        "form": form,
        "app": app,
        "installation": installation,
        "placed": placed(installation),
        "scopes": [SCOPES[name] for name in installation.effective_scopes],
        "erasure_at": timezone.now() + timedelta(seconds=settings.DATA_ERASURE_DELAY),
    }
    return form_page(request, "merchants/installed/uninstall.html", context)


def _uninstall(request: MerchantRequest, installation: Installation, reason: str) -> HttpResponse:
    with suppress(Conflict):  # it has already ended; the receipt shows it
        services.uninstall(installation=installation, by=request.user, reason=reason)
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


# Admin pages of apps, framed in the merchant's area.


@require_safe
@own_page_of_app
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
@active_page_of_app
def new_session_token(request: MerchantRequest, installation: Installation) -> JsonResponse:
    """A new token for a frame that loads again, because the page's token is valid for one minute.

    Paused, suspended and deleted apps get none.
    """
    if not installation.is_running:
        raise NotFound("The app's pages are switched off.")
    return JsonResponse({"sessionToken": _session_token(request, installation)})


def _init(request: MerchantRequest, installation: Installation) -> dict[str, Any]:
    """The fields of `service:init`."""
    return {
        "businessId": str(installation.business_id),
        "businessName": installation.business.name,
        "role": request.user.role,
        "locale": installation.business.locale,
        "sessionToken": _session_token(request, installation),
    }


def _session_token(request: MerchantRequest, installation: Installation) -> str:
    is_own = is_own_sandbox(request.business, request.user)
    role = None if is_own else StoreRole(request.business.store_role)
    return session_token(installation=installation, user=request.user, staff_role=role)

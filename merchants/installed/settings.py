"""What a merchant sets of an installed app: its settings, its scripts and widgets with the settings of each, and what it does at checkout."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from common.errors import NotFound
from common.ids import parse_id
from common.web.forms.edits import EditForm
from common.web.forms.fields import RadioLines
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST, require_safe
from extensions.hooks import breaker, health
from extensions.in_store.capabilities import choices_of
from extensions.in_store.embeds_and_blocks import StoreEmbed, embeds_among
from extensions.models import Definition
from extensions.schema_forms import settings_form
from extensions.services.extension_states import save_embed_settings, save_settings
from installations.models import Installation
from merchants.access import MerchantRequest, active_page, app_page
from merchants.frame import InstalledApp
from merchants.installed.activity import at_checkout, works_since
from merchants.pages.forms import pages_for_blocks
from stores.hookpoints import BUDGET_SECONDS, HookPoint
from webhooks.queries import delivery_health


@require_safe
@app_page
def welcome(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """What the app adds, and the first thing to do with it: a block on a page, its settings, or its own page. Apps lead here."""
    context = {
        "app": app,
        "installation": app.installation,
        "pages": pages_for_blocks(request.business),
        "first_block": next(iter(app.blocks), None),
        "own_page": next(iter(app.admin_pages), None),
    }
    return render(request, "merchants/installed/welcome.html", context)


@require_http_methods(GET_OR_POST)
@app_page
def app_settings(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """The form of the app's `settingsSchema`. The buttons of a list change the form and save nothing."""
    installation = app.installation
    schema = app.status.settings_schema
    if schema is None:
        raise NotFound("This app has no settings.")
    form = settings_form(
        schema,
        values=installation.settings,
        timezone=request.business.timezone,
        data=typed(request),
    )

    def save() -> HttpResponse:
        save_settings(installation=installation, user=request.user, values=form.values, before=form.kept)
        return done(request, _saved(installation), "merchants:app_settings", installation.pk)

    if response := saved(request, form, save):
        return response
    context = {
        "app": app,
        "installation": installation,
        "form": form,
        "pages": pages_for_blocks(request.business),
    }
    return form_page(request, "merchants/installed/settings.html", context)


def _saved(installation: Installation) -> str:
    """The app gets `installation.updated`, if one of its webhooks lists that, and reads them from the API in any case."""
    name = installation.app_fields.name
    how = " It gets them with installation.updated." if installation.business.is_sandbox else ""
    return f"Saved. {name} can use the new settings from now on.{how}"


@require_safe
@app_page
def embeds(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """What the app puts on every page of the store, on or off. The app's page has the switches."""
    context = {
        "app": app,
        "installation": app.installation,
        "embeds": embeds_among(app.embeds),
        "pages": pages_for_blocks(request.business),
    }
    return render(request, "merchants/installed/embeds.html", context)


def embed_of(embeds: list[StoreEmbed], embed_id: object) -> StoreEmbed:
    """Raises `NotFound` for another app's embed, and for one that doesn't run in this store."""
    known_id = parse_id(embed_id)
    for each in embeds:
        if each.embed.id == known_id:
            return each
    raise NotFound("Embed not found")


@require_http_methods(GET_OR_POST)
@app_page
def embed_settings(request: MerchantRequest, app: InstalledApp, embed_id: str) -> HttpResponse:
    """The form of an embed's `settingsSchema`. The buttons of a list change the form and save nothing."""
    installation, chosen = app.installation, embed_of(embeds_among(app.embeds), embed_id)
    form = settings_form(
        chosen.embed.settings_schema,
        values=chosen.values,
        defaults=chosen.embed.default_config,
        timezone=request.business.timezone,
        data=typed(request),
    )

    def save() -> HttpResponse:
        save_embed_settings(
            installation=installation,
            definition=Definition.objects.get(pk=chosen.embed.id),
            settings=form.values,
            before=form.kept,
        )
        message = f"Saved. {chosen.embed.name} has your new settings."
        return done(request, message, "merchants:embeds", installation.pk)

    if response := saved(request, form, save):
        return response
    context = {"app": app, "installation": installation, "chosen": chosen, "form": form}
    return form_page(request, "merchants/installed/embed_settings.html", context)


# --- At checkout -------------------------------------------------------------------------------------

TAKE, REFUSE = "take", "refuse"
REFUSED = "From now on, orders that this app can't check are refused."
TAKEN = "From now on, orders that this app can't check are accepted and marked."


class RefusalForm(EditForm):
    """What to do with orders that the app could not check."""

    unchecked = forms.ChoiceField(
        label="If it can't check an order",
        choices=[
            (TAKE, "Accept the order and mark it as not checked"),
            (REFUSE, "Refuse the order and ask the buyer to try again in a few minutes"),
        ],
        widget=RadioLines,
    )


@require_safe
@app_page
def checkout(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    return _page(request, app)


@require_http_methods(GET_OR_POST)
@app_page
def checkout_refusal(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    health.own_hook(app.installation.app, HookPoint.VALIDATE)
    data = typed(request)
    return redirect("merchants:checkout", app.installation.pk) if data is None else _page(request, app, data)


def _page(request: MerchantRequest, app: InstalledApp, data: QueryDict | None = None) -> HttpResponse:
    installation = app.installation
    refuses = health.refuses_unvalidated(installation)
    form = RefusalForm(data, initial={"unchecked": REFUSE if refuses else TAKE})

    def save() -> HttpResponse:
        message = "Saved."
        if form.changes:
            refuse = form.cleaned_data["unchecked"] == REFUSE
            health.prefer_refusal(installation=installation, refuse=refuse)
            message = REFUSED if refuse else TAKEN
        return done(request, message, "merchants:checkout", installation.pk)

    if response := saved(request, form, save):
        return response
    parts = at_checkout(app, choices_of(installation).off, refuses=refuses)
    context = {
        "app": app.dated(works_since(parts, delivery_health(installation, timezone.now()))),
        "installation": installation,
        "budget": f"{BUDGET_SECONDS:g} seconds",
        "parts": parts,
        "form": form,
    }
    return form_page(request, "merchants/installed/checkout.html", context)


@require_POST
@active_page
def checkout_reset(request: MerchantRequest, installation: Installation, point: str) -> HttpResponse:
    """Close the breaker, so that the next checkout calls the app."""
    definition = health.own_hook(installation.app, point)
    breaker.reset(installation=installation, definition=definition)
    messages.success(request, "The next checkout calls the app again.")
    return redirect("merchants:checkout", installation.pk)

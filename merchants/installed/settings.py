"""The merchant's settings of an installed app, and the app's scripts and widgets with the settings of each."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from common.errors import NotFound
from common.ids import parse_id
from common.web.forms.kept import typed
from common.web.forms.pages import done, form_page, saved
from common.web.methods import GET_OR_POST, require_safe
from extensions.in_store.embeds_and_blocks import StoreEmbed, embeds_among
from extensions.models import Definition
from extensions.schema_forms import settings_form
from extensions.services.extension_states import save_embed_settings, save_settings
from installations.models import Installation
from merchants.access import MerchantRequest, app_page
from merchants.installed.app import InstalledApp
from merchants.pages.block_picker import pages_for_blocks


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
    """Apps read their settings from the API; there is no event for a change."""
    name = installation.app_fields.name
    how = " It reads them by GET /app-api/installation." if installation.business.is_sandbox else ""
    return f"Saved. {name} sees the new settings when it next reads them.{how}"


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

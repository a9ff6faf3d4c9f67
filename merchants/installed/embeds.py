"""An app's scripts and widgets in a store, and the settings of each."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.errors import NotFound
from common.ids import parse_id
from common.web.methods import require_safe
from extensions.in_store.embeds_and_blocks import StoreEmbed, embeds_among
from extensions.models import Definition
from extensions.schema_forms import settings_form
from extensions.services.extension_states import save_embed_settings
from merchants.access import MerchantRequest, app_page
from merchants.installed.app import InstalledApp
from merchants.pages.block_picker import pages_for_blocks


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


@require_http_methods(["GET", "HEAD", "POST"])
@app_page
def embed_settings(request: MerchantRequest, app: InstalledApp, embed_id: str) -> HttpResponse:
    """The form of an embed's `settingsSchema`. The buttons of a list change the form and save nothing."""
    installation, chosen = app.installation, embed_of(embeds_among(app.embeds), embed_id)
    form = settings_form(
        chosen.embed.settings_schema,
        values=chosen.values,
        defaults=chosen.embed.default_config,
        timezone=request.business.timezone,
        data=request.POST if request.method == "POST" else None,
    )
    if form.is_valid():
        definition = Definition.objects.get(pk=chosen.embed.id)
        save_embed_settings(installation=installation, definition=definition, settings=form.values)
        messages.success(request, f"Saved. {chosen.embed.name} has your new settings.")
        return redirect("merchants:embeds", installation.pk)
    context = {"app": app, "installation": installation, "chosen": chosen, "form": form}
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "merchants/installed/embed_settings.html", context, status=status)

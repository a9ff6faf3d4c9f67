"""The merchant's switches for an app's embeds."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.merchant_pages import MerchantRequest
from common.errors import NotFound
from common.ids import parse_id
from extensions.models import Definition
from extensions.schema_forms import settings_form
from extensions.services.embeds import save_embed_settings, switch_embed
from extensions.storefront import StoreEmbed, embeds_on
from installations.models import Installation
from installations.views.access import active_page


@require_http_methods(["GET", "HEAD", "POST"])
@active_page
def embeds(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """What the app puts on every page of the store, each with its switch. POST: `embed` and `on` (1 or 0)."""
    own = _own(installation)
    if request.method != "POST":
        return render(request, "extensions/embeds.html", {"installation": installation, "embeds": own})
    chosen = embed_of(own, request.POST.get("embed", ""))
    is_on = request.POST.get("on") == "1"
    definition = Definition.objects.get(pk=chosen.embed.id)
    switch_embed(installation=installation, definition=definition, is_on=is_on)
    messages.success(request, f"{chosen.embed.name} is {'on' if is_on else 'off'}.")
    return redirect("extensions:embeds", installation.pk)


def embed_of(embeds: list[StoreEmbed], embed_id: object) -> StoreEmbed:
    """Raises `NotFound`: another app's, or none that is in force."""
    known_id = parse_id(embed_id)
    for each in embeds:
        if each.embed.id == known_id:
            return each
    raise NotFound("The app has no such embed.")


@require_http_methods(["GET", "HEAD", "POST"])
@active_page
def embed_settings(request: MerchantRequest, installation: Installation, embed_id: str) -> HttpResponse:
    """The form of an embed's `settingsSchema`. A button of a list changes the form and keeps nothing."""
    chosen = embed_of(_own(installation), embed_id)
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
        return redirect("extensions:embeds", installation.pk)
    context = {"installation": installation, "chosen": chosen, "form": form}
    status = 422 if form.is_bound and form.errors else 200
    return render(request, "extensions/embed_settings.html", context, status=status)


def _own(installation: Installation) -> list[StoreEmbed]:
    return [each for each in embeds_on(installation.business) if each.installation.pk == installation.pk]

"""The merchant's switches for an app's embeds."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.merchant_pages import MerchantRequest
from common.errors import NotFound
from common.ids import parse_id
from extensions.models import Definition
from extensions.services.embeds import switch_embed
from extensions.storefront import StoreEmbed, embeds_on
from installations.models import Installation
from installations.views.access import active_page


@require_http_methods(["GET", "HEAD", "POST"])
@active_page
def embeds(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """What the app puts on every page of the store, each with its switch. POST: `embed` and `on` (1 or 0)."""
    own = [each for each in embeds_on(installation.business) if each.installation.pk == installation.pk]
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

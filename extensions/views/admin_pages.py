"""Admin pages of apps, framed in the merchant's area (service interface, "Admin page iframe contract")."""

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.merchant_pages import MerchantRequest
from common.errors import NotFound
from extensions import definitions
from extensions.addresses import SANDBOX, frame_url, origin_of
from extensions.enums import ExtensionType
from extensions.policy import allow_frame
from extensions.queries import extensions_on, is_working
from extensions.session_tokens import session_token
from installations.models import Installation
from installations.views.access import active_page


@require_safe
@never_cache
@active_page
def admin_page(request: MerchantRequest, installation: Installation, page_id: str) -> HttpResponse:
    """One admin page in its frame, under a strip that says whose it is. Another's, or one that left: 404."""
    for each in extensions_on(installation.business, ExtensionType.ADMIN_PAGE, key=page_id):
        if each.installation.pk == installation.pk:
            page = definitions.admin_page(each.definition)
            break
    else:
        raise NotFound("The app has no such page.")
    context = {
        "installation": installation,
        "admin_page": page,
        "src": frame_url(page.render_url, installation.business),
        "origin": origin_of(page.render_url),
        "sandbox": SANDBOX,
        "init": _init(request, installation),
    }
    allow_frame(request, page.render_url)
    return render(request, "extensions/admin_page.html", context)


@require_safe
@never_cache
@active_page
def new_session_token(request: MerchantRequest, installation: Installation) -> JsonResponse:
    """For a frame that loads again: the token that came with the page lives for a minute only.

    None for an app that is suspended or deleted: its pages are off.
    """
    if not is_working(installation):
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

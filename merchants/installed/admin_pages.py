"""Admin pages of apps, framed in the merchant's area."""

from typing import Any

from django.http import HttpResponse, JsonResponse
from django.shortcuts import render

from accounts.enums import StoreRole
from common.errors import NotFound
from common.http.url_policy import origin_of
from common.web.methods import require_safe
from common.web.middleware.policy import allow_frame
from extensions.addresses import SANDBOX, frame_url
from extensions.session_tokens import session_token
from installations.models import Installation
from merchants.access import MerchantRequest, active_page, app_page
from merchants.installed.app import InstalledApp


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
    role = None if request.business.is_sandbox else StoreRole(request.business.store_role)
    return session_token(installation=installation, user=request.user, staff_role=role)

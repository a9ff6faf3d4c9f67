"""Pausing an installed app and letting it run again."""

from contextlib import suppress

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from common.errors import Conflict
from installations import services
from installations.models import Installation
from merchants.access import MerchantRequest, active_page


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

"""The end of an installation: what it means, and the receipt of it."""

from contextlib import suppress
from datetime import timedelta

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from accounts.merchant_pages import MerchantRequest
from common.errors import Conflict
from installations import services
from installations.enums import HistoryKind
from installations.models import Installation
from installations.queries import granted_by, history_of
from installations.views.access import active_page, installation_page
from marketplace.scopes import SCOPES


@require_http_methods(["GET", "HEAD", "POST"])
@active_page
def uninstall(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """Says what goes now and what later, and asks; pressed twice it is done once."""
    if request.method == "POST":
        return _uninstall(request, installation)
    context = {
        "installation": installation,
        "scopes": [SCOPES[name] for name in installation.effective_scopes],
        "erasure_at": timezone.now() + timedelta(seconds=settings.DATA_ERASURE_DELAY),
    }
    return render(request, "merchant/uninstall.html", context)


def _uninstall(request: MerchantRequest, installation: Installation) -> HttpResponse:
    with suppress(Conflict):  # it has ended in the meantime, which the receipt tells
        services.uninstall(installation=installation, by=request.user)
    return redirect("merchant:receipt", installation.pk)


@require_safe
@installation_page
def receipt(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """What was granted, by whom and when, what ended, and how far the erasure has come. Kept for good."""
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
    }
    return render(request, "merchant/receipt.html", context)

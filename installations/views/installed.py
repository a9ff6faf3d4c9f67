"""The apps on a business, those that were, and each one's permissions and activity."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from accounts.merchant_pages import MerchantRequest, merchant_page
from common.pages import page_request
from installations.consent_question import question_of
from installations.models import Installation
from installations.queries import granted_by, history_of, installations_of
from installations.views.access import active_page
from marketplace.scopes import SCOPES


@require_safe
@merchant_page
def installed(request: MerchantRequest) -> HttpResponse:
    """Those that ask for more come first, with the question itself."""
    of_business = installations_of(request.business)
    installations = list(of_business.active())
    past = of_business.exclude(uninstalled_at=None).order_by("-uninstalled_at", "-id")
    wanted = page_request(request.GET, default=20)
    context = {
        "installations": installations,
        "questions": [question_of(each) for each in of_business.asking()],
        "past": past[wanted.window],
        "past_total": past.count(),
        "page_request": wanted,
    }
    return render(request, "merchant/installed.html", context)


@require_safe
@active_page
def installation(request: MerchantRequest, installation: Installation) -> HttpResponse:
    entries = granted_by(installation)
    context = {
        "installation": installation,
        "question": question_of(installation),
        "granted": [(SCOPES[name], entries.get(name)) for name in installation.effective_scopes],
    }
    return render(request, "merchant/installation.html", context)


@require_safe
@active_page
def activity(request: MerchantRequest, installation: Installation) -> HttpResponse:
    context = {"installation": installation, "history": history_of(installation).reverse()}
    return render(request, "merchant/activity.html", context)

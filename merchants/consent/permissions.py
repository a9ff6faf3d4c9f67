"""Approving or declining what an app asks for since a new version."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from common.errors import ServiceError
from common.web.methods import GET_OR_POST
from installations.queries import granted_by
from installations.services.consent import approve_scopes, decline_scopes
from merchants.access import MerchantRequest, app_page
from merchants.consent.question import PermissionRequest, question_of
from merchants.installed.app import InstalledApp

APPROVE, DECLINE = "approve", "decline"
CHANGED = "The app has a newer version. Review what it asks for now."


@require_http_methods(GET_OR_POST)
@app_page
def reconsent(request: MerchantRequest, app: InstalledApp) -> HttpResponse:
    """Shows the request; POST answers it. Without an open request, redirects to the app's page."""
    installation = app.installation
    question = question_of(app, granted_by(installation), with_use=True)
    if question is None:
        return redirect("merchants:installation", installation.pk)
    if request.method == "POST":
        return _answer(request, question)
    return render(
        request, "merchants/consent/reconsent.html", {"installation": installation, "question": question}
    )


def _answer(request: MerchantRequest, question: PermissionRequest) -> HttpResponse:
    """An approval holds only for the version that was shown."""
    installation, answer = question.installation, request.POST.get("answer")
    if answer not in (APPROVE, DECLINE) or request.POST.get("version") != str(question.version):
        messages.warning(request, CHANGED)
        return redirect("merchants:reconsent", installation.pk)
    name = installation.app_fields.name
    try:
        if answer == APPROVE:
            approve_scopes(
                installation=installation,
                user=request.user,
                scopes=question.scopes,
                version=installation.version,
            )
            messages.success(request, f"Approved. {name} can use its new permissions now.")
        else:
            decline_scopes(installation=installation, user=request.user)
            messages.success(request, f"Declined. {name} keeps its current permissions.")
    except ServiceError as error:  # uninstalled, or another version approved, since the page was opened
        messages.error(request, error.message)
    return redirect("merchants:installation", installation.pk)

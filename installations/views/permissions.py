"""Agreeing to what an app asks for since its newest approval, or keeping it as it is."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.merchant_pages import MerchantRequest
from common.errors import ServiceError
from installations.consent_question import Question, question_of
from installations.models import Installation
from installations.services.consent import approve_scopes, decline_scopes
from installations.views.access import active_page

APPROVE, DECLINE = "approve", "decline"
CHANGED = "The app has a newer version since this page was opened. This is what it asks for now."


@require_http_methods(["GET", "HEAD", "POST"])
@active_page
def reconsent(request: MerchantRequest, installation: Installation) -> HttpResponse:
    """The question; POST answers it. Where nothing is asked, the app's page."""
    question = question_of(installation)
    if question is None:
        return redirect("merchant:installation", installation.pk)
    if request.method == "POST":
        return _answer(request, question)
    return render(request, "merchant/reconsent.html", {"installation": installation, "question": question})


def _answer(request: MerchantRequest, question: Question) -> HttpResponse:
    """A yes holds for what was shown, not for what was approved meanwhile."""
    installation, answer = question.installation, request.POST.get("answer")
    if answer not in (APPROVE, DECLINE) or request.POST.get("version") != str(question.version):
        messages.warning(request, CHANGED)
        return redirect("merchant:reconsent", installation.pk)
    name = installation.app_fields.name
    try:
        if answer == APPROVE:
            approve_scopes(
                installation=installation,
                user=request.user,
                scopes=question.scopes,
                version=question.version,
            )
            messages.success(request, f"Approved. {name} can use its new permissions now.")
        else:
            decline_scopes(installation=installation, user=request.user)
            messages.success(request, f"{name} stays as it was.")
    except ServiceError as error:  # ended, or approved anew, since the page was looked up
        messages.error(request, error.message)
    return redirect("merchant:installation", installation.pk)

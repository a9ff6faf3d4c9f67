"""Confirming an e-mail address."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts.models import User
from accounts.services.confirmation import mail_confirmation
from accounts.sign_in import limits
from common.errors import TooManyRequests
from common.web.own_pages import is_own_page


@require_POST
@login_required
def send_again(request: HttpRequest) -> HttpResponse:
    """Mail the link once more, and go back to the page that asked for it."""
    assert isinstance(request.user, User)
    back = request.POST.get("next", "")
    if not is_own_page(back, request):
        back = "accounts:home"
    try:
        limits.mail_request(request)
    except TooManyRequests as error:
        messages.error(request, error.message)
        return redirect(back)
    mail_confirmation(email=request.user.email)
    messages.success(request, f"We sent the link to {request.user.email} again.")
    return redirect(back)

"""The page of an invitation's link: for who has an account, and for who registers by it."""

from typing import Any

from allauth.account.utils import complete_signup
from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.enums import Role
from accounts.models import User
from accounts.services import confirmation, register
from accounts.sign_in import limits
from common.errors import Conflict, Invalid, NotFound
from common.web.forms.pages import UNPROCESSABLE, add_service_errors
from common.web.methods import GET_OR_POST
from marketplace.models import Membership
from marketplace.services import members

NOT_FOUND = 404


class InvitedForm(forms.Form):
    name = forms.CharField(
        max_length=120,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )
    password = forms.CharField(
        strip=False,
        help_text="At least 8 characters. Avoid common passwords.",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        error_messages={"required": "Choose a password."},
    )

    def register(self, email: str) -> User | None:
        """A developer's account with this address, which the link has confirmed. None with errors in the form."""
        try:
            with transaction.atomic():
                made = register(email=email, role=Role.DEVELOPER, **self.cleaned_data)
                confirmation.confirm(user=made.user)
        except Invalid as error:
            add_service_errors(self, error)
            return None
        return made.user


@require_http_methods(GET_OR_POST)
@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Looking changes nothing, because mail servers open links. Only **Accept** uses the invitation up."""
    try:
        row = members.find_invitation(token)
        if request.method == "POST" and isinstance(request.user, User):
            app = members.accept(token=token, user=request.user)
            return redirect("portal:app", app.slug) if request.user.is_developer else redirect("admin:index")
    except NotFound as error:
        return render(
            request, "developers/portal/members/invitation.html", {"problem": error.message}, status=NOT_FOUND
        )
    context = _context(request, row, token)
    if not request.user.is_authenticated and not User.objects.filter(email=row.email).exists():
        context["form"] = InvitedForm()
    return render(request, "developers/portal/members/invitation.html", context)


@require_POST
def invitation_register(request: HttpRequest, token: str) -> HttpResponse:
    """Registers a developer with the invited address, and leads back to the invitation."""
    page = resolve_url("portal:invitation", token)
    row = members.find_invitation(token)
    if request.user.is_authenticated:
        return redirect(page)
    limits.registration(request)
    try:
        form = InvitedForm(request.POST)
        if form.is_valid() and (made := form.register(row.email)):
            return complete_signup(request, made, None, page)
    except Conflict:  # registered in the meantime
        return redirect(page)
    context = _context(request, row, token) | {"form": form}
    return render(request, "developers/portal/members/invitation.html", context, status=UNPROCESSABLE)


def _context(request: HttpRequest, row: Membership, token: str) -> dict[str, Any]:
    user = request.user
    return {
        "invitation": row,
        "token": token,
        "refusal": members.why_not_accepted(row, user) if isinstance(user, User) else "",
    }

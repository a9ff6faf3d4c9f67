"""Deleting the account."""

from typing import Any

from django import forms
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from accounts.access import stores_of
from accounts.models import Business, User, normalize_email
from accounts.services.deletion import NotDeletableError, delete_account, obstacles_of
from accounts.sign_in.step_up import step_up
from common import lengths
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST, require_safe

CONFLICT = 409


class DeleteForm(forms.Form):
    """Confirms with the account's own address."""

    email = forms.CharField(
        max_length=lengths.EMAIL,
        widget=forms.TextInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
        error_messages={"required": "Enter your e-mail address."},
    )

    def __init__(self, *args: Any, user: User) -> None:
        super().__init__(*args)
        self.user = user
        self.fields["email"].label = f"Type {user.email} to confirm"

    def clean_email(self) -> str:
        email = normalize_email(self.cleaned_data["email"])
        if email != self.user.email:
            raise forms.ValidationError(f"Type {self.user.email} exactly as shown.")
        return email


@require_http_methods(GET_OR_POST)
@login_required
@step_up
def delete(request: HttpRequest) -> HttpResponse:
    user = request.user
    assert isinstance(user, User)
    form = DeleteForm(request.POST if request.method == "POST" else None, user=user)
    obstacles, status = obstacles_of(user), 200
    if request.method == "POST":
        status = CONFLICT if obstacles else UNPROCESSABLE
    if request.method == "POST" and form.is_valid():
        try:
            delete_account(user=user)
        except NotDeletableError as refusal:
            obstacles, status = refusal.obstacles, CONFLICT
        else:
            request.session.flush()
            return redirect("accounts:deleted")
    context = {
        "form": form,
        "obstacles": obstacles,
        "stores": Business.objects.owned_by(user).order_by("-is_sandbox", "name"),
        "works_in": stores_of(user).exclude(pk__in=Business.objects.owned_by(user)).order_by("name"),
    }
    return render(request, "accounts/delete.html", context, status=status)


@require_safe
@never_cache
def deleted(request: HttpRequest) -> HttpResponse:
    """Where people are led who have just deleted their account."""
    return render(request, "accounts/deleted.html")

"""The profile: name, e-mail address and notices; and deleting the account."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from accounts.access import stores_of
from accounts.forms import NoticesForm
from accounts.models import Business, User, normalize_email
from accounts.services import profile as services
from accounts.services.deletion import NotDeletableError, delete_account, obstacles_of
from accounts.services.outbox import choose_mails, mails_of
from accounts.sign_in import limits
from accounts.sign_in.origins import origin_of
from accounts.sign_in.step_up import step_up
from common import lengths
from common.errors import Conflict, Invalid, TooManyRequests
from common.web.forms.edits import CONFLICT
from common.web.forms.fields import TypedEmailField
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST, require_safe

GONE = 410
TOO_MANY = 429


class NameForm(forms.Form):
    name = forms.CharField(
        label="Your name",
        help_text="Merchants see a developer’s name on the pages of their apps: a new one with the next approved version.",
        max_length=lengths.PERSON,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )


class EmailForm(forms.Form):
    email = TypedEmailField(
        label="New e-mail address",
        help_text="We send a link to the new address, and notify the old one when it has changed.",
        max_length=lengths.EMAIL,
        widget=forms.EmailInput({"autocomplete": "email"}),
        error_messages={
            "required": "Enter the new address.",
            "invalid": "Enter an e-mail address such as name@example.com.",
        },
    )


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _page(request: HttpRequest, form: forms.Form | None = None, status: int = UNPROCESSABLE) -> HttpResponse:
    """The page. `form` is the one with errors, if there is one."""
    user = _user(request)
    user_shown = User.objects.get(pk=user.pk)
    context = {
        "form": form,
        "person": user_shown,
        "name_form": form if isinstance(form, NameForm) else NameForm(initial={"name": user_shown.name}),
        "email_form": form if isinstance(form, EmailForm) else EmailForm(),
        "notices_form": form if isinstance(form, NoticesForm) else NoticesForm(user=user_shown),
        "has_notices": bool(mails_of(user)),
    }
    return render(request, "accounts/profile.html", context, status=status if form else 200)


@require_safe
@login_required
def profile(request: HttpRequest) -> HttpResponse:
    return _page(request)


@require_POST
@login_required
def change_name(request: HttpRequest) -> HttpResponse:
    form = NameForm(request.POST)
    if not form.is_valid():
        return _page(request, form)
    try:
        services.rename(user=_user(request), name=form.cleaned_data["name"])
    except Invalid as error:
        form.add_error("name", error.message)
        return _page(request, form)
    messages.success(request, "Your name is saved.")
    return redirect("accounts:profile")


@require_http_methods(GET_OR_POST)
@login_required
@step_up
def ask_for_new_email(request: HttpRequest) -> HttpResponse:
    """The address doesn't change until its owner has followed the link."""
    if request.method != "POST":
        return redirect("accounts:profile")
    user, form = _user(request), EmailForm(request.POST)
    if not form.is_valid():
        return _page(request, form)
    try:
        limits.mail_request(request)
        services.ask_for_new_email(user=user, email=form.cleaned_data["email"])
    except TooManyRequests as error:
        form.add_error("email", error.message)
        return _page(request, form, TOO_MANY)
    except Invalid as error:
        form.add_error("email", error.message)
        return _page(request, form)
    messages.success(request, f"We sent a link to {user.pending_email}.")
    return redirect("accounts:profile")


@require_POST
@login_required
def forget_new_email(request: HttpRequest) -> HttpResponse:
    services.forget_new_email(user=_user(request))
    messages.success(request, "Your address stays as it is.")
    return redirect("accounts:profile")


@require_http_methods(GET_OR_POST)
@login_required
def confirm_new_email(request: HttpRequest, token: str) -> HttpResponse:
    """Asks with a button, because mail servers open links."""
    user = _user(request)
    try:
        if request.method == "POST":
            services.change_email(user=user, token=token, origin=origin_of(request))
            messages.success(request, f"Your e-mail address is now {user.email}.")
            return redirect("accounts:profile")
        email = services.new_email_of(user=user, token=token)
    except Conflict as error:
        return render(request, "accounts/new_email.html", {"problem": error.message}, status=GONE)
    return render(request, "accounts/new_email.html", {"email": email})


@require_POST
@login_required
def choose_notices(request: HttpRequest) -> HttpResponse:
    user = _user(request)
    form = NoticesForm(request.POST, user=user)
    if not form.is_valid():
        return _page(request, form)
    if form.show_conflicts():
        return _page(request, form, CONFLICT)
    if form.changes:
        choose_mails(user=user, wanted=form.cleaned_data["mails"])
    messages.success(request, "Your notices are saved.")
    return redirect("accounts:profile")


# --- Deleting the account ----------------------------------------------------------------------------


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
def deletion(request: HttpRequest) -> HttpResponse:
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
def account_deleted(request: HttpRequest) -> HttpResponse:
    """Where people are led who have just deleted their account."""
    return render(request, "accounts/deleted.html")

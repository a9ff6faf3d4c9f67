"""The page of an invitation's link: for who has an account, and for who registers by it.

The doors have one each, for apps and for stores; a `Kind` says what is theirs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from allauth.account.utils import complete_signup
from django import forms
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url

from accounts.enums import Role
from accounts.models import Invitable, User
from accounts.services import confirmation, register
from accounts.services.registration import register_without_store
from accounts.sign_in import limits
from common import lengths
from common.errors import Conflict, Invalid, NotFound
from common.places import Busy
from common.web.forms.contacts import EmailField
from common.web.forms.pages import add_service_errors, form_page, refuse
from common.web.forms.widgets import RadioLines

NOT_FOUND = 404


@dataclass(frozen=True, slots=True)
class Kind:
    """`page` is the name of the page's URL, `role` that of who registers by it. `accept` answers with where to go on."""

    page: str
    template: str
    role: Role
    find: Callable[[str], Any]
    why_not_accepted: Callable[[Any, User], str]
    accept: Callable[[str, User], str]


class InviteForm(forms.Form):
    """Whom to invite. `roles` are the choices, each with its label and what it may do; `usual` is chosen at first."""

    email = EmailField(
        label="E-mail",
        max_length=lengths.EMAIL,
        widget=forms.EmailInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
        error_messages={
            "required": "Enter an e-mail address.",
            "invalid": "Enter an e-mail address such as kim@example.com.",
        },
    )

    def __init__(self, data: Any, *, roles: Mapping[str, tuple[str, str]], usual: str) -> None:
        super().__init__(data)
        self.fields["role"] = forms.ChoiceField(
            choices=[(role, label) for role, (label, _) in roles.items()],
            initial=usual,
            widget=RadioLines(about={role: about for role, (_, about) in roles.items()}),
            error_messages={"required": "Choose a role."},
        )


class InvitedForm(forms.Form):
    name = forms.CharField(
        max_length=lengths.PERSON,
        widget=forms.TextInput({"autocomplete": "name"}),
        error_messages={"required": "Enter your name."},
    )
    password = forms.CharField(
        strip=False,
        max_length=lengths.PASSWORD,
        help_text="At least 8 characters. Avoid common passwords.",
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        error_messages={"required": "Choose a password."},
    )

    def register(self, email: str, role: Role) -> User | None:
        """An account with this address, which the link has confirmed. A merchant's has no store. None with errors in the form."""
        try:
            with transaction.atomic():
                if role == Role.MERCHANT:
                    user = register_without_store(email=email, **self.cleaned_data)
                else:
                    user = register(email=email, role=role, **self.cleaned_data).user
                confirmation.confirm(user=user)
        except Invalid as error:
            add_service_errors(self, error)
            return None
        return user


def look_or_accept(request: HttpRequest, kind: Kind, token: str) -> HttpResponse:
    """Looking changes nothing, because mail servers open links. Only **Accept** uses the invitation up."""
    try:
        row = kind.find(token)
        if request.method == "POST" and isinstance(request.user, User):
            return redirect(kind.accept(token, request.user))
    except NotFound as error:
        return render(request, kind.template, {"problem": error.message}, status=NOT_FOUND)
    context = _context(request, kind, row, token)
    if not request.user.is_authenticated and not User.objects.with_email(row.email):
        context["form"] = InvitedForm()
    return render(request, kind.template, context)


def register_invited(request: HttpRequest, kind: Kind, token: str) -> HttpResponse:
    """Registers the invited address, and leads back to the invitation."""
    page = resolve_url(kind.page, token)
    row = kind.find(token)
    if request.user.is_authenticated:
        return redirect(page)
    limits.registration(request)
    form = InvitedForm(request.POST)
    try:
        if form.is_valid() and (made := form.register(row.email, kind.role)):
            return complete_signup(request, made, None, page)
    except Conflict:  # registered in the meantime
        return redirect(page)
    except Busy as busy:
        refuse(form, busy)
    context = _context(request, kind, row, token) | {"form": form}
    return form_page(request, kind.template, context)


def _context(request: HttpRequest, kind: Kind, row: Invitable, token: str) -> dict[str, Any]:
    user = request.user
    return {
        "invitation": row,
        "register_page": resolve_url(f"{kind.page}_register", token),
        "refusal": kind.why_not_accepted(row, user) if isinstance(user, User) else "",
    }

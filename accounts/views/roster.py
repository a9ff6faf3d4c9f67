"""The pages of a roster: its people, and the link of an invitation, for a person who has an account or registers by it.

The doors have one each, for apps and for stores; `RosterPages` say what is theirs.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from allauth.account.utils import complete_signup
from django import forms
from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render, resolve_url

from accounts.enums import Role
from accounts.models import Invitable, User
from accounts.services import confirmation, register
from accounts.services.registration import register_without_store
from accounts.services.roster import Roster
from accounts.sign_in import limits
from common import lengths
from common.errors import Conflict, Invalid, NotFound
from common.places import Busy
from common.web.forms.fields import RadioLines, TypedEmailField
from common.web.forms.kept import typed
from common.web.forms.pages import add_service_errors, done, form_page, refuse, saved

NOT_FOUND = 404
INVITATION = "accounts/invitation.html"


@dataclass(frozen=True, slots=True)
class RosterPages:
    """Names of URLs, and what is behind `accepted`: the address to go on to."""

    roster: Roster[Any, Any]
    people: str
    role: str
    remove: str
    invitation: str
    elsewhere: tuple[str, str]  # where a link that no longer works leads: a label, and a name
    accepted: Callable[[Any, User], str]


class InviteForm(forms.Form):
    """Whom to invite, and in which role."""

    email = TypedEmailField(
        label="E-mail",
        max_length=lengths.EMAIL,
        widget=forms.EmailInput({"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
        error_messages={
            "required": "Enter an e-mail address.",
            "invalid": "Enter an e-mail address such as kim@example.com.",
        },
    )

    def __init__(self, data: Any, roster: Roster[Any, Any]) -> None:
        super().__init__(data)
        self.fields["role"] = forms.ChoiceField(
            choices=[(role.value, role.label) for role in roster.roles],
            initial=roster.usual_role,
            widget=RadioLines(about={role.value: words.may for role, words in roster.roles.items()}),
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


def people_page(
    request: HttpRequest,
    pages: RosterPages,
    thing: Any,
    *args: str,
    template: str,
    context: Mapping[str, Any],
) -> HttpResponse:
    """The people of the thing, the owner first, and the form that invites. `args` are those of the pages."""
    form, user = InviteForm(typed(request), pages.roster), cast(User, request.user)

    def save() -> HttpResponse:
        invited = pages.roster.invite(thing, by=user, **form.cleaned_data)
        said = f"{invited.email} is invited. We sent the link, which works for seven days."
        return done(request, said, pages.people, *args)

    if response := saved(request, form, save):
        return response
    people = sorted(pages.roster.people_of(thing), key=lambda each: not each.is_owner)
    rows = [
        (each, *(resolve_url(page, *args, each.id) for page in (pages.role, pages.remove))) for each in people
    ]
    found = {"form": form, "rows": rows, "decides": people[0].user_id == user.pk}
    return form_page(request, template, {**found, **context})


def look_or_accept(request: HttpRequest, pages: RosterPages, token: str) -> HttpResponse:
    """Looking changes nothing, because mail servers open links. Only **Accept** uses the invitation up."""
    try:
        row = pages.roster.find_invitation(token)
        if request.method == "POST" and isinstance(request.user, User):
            thing = pages.roster.accept(token=token, user=request.user)
            return redirect(pages.accepted(thing, request.user))
    except NotFound as error:
        label, name = pages.elsewhere
        problem = {"problem": error.message, "elsewhere": label, "elsewhere_page": resolve_url(name)}
        return render(request, INVITATION, problem, status=NOT_FOUND)
    context = _context(request, pages, row, token)
    if (
        settings.PASSWORD_SIGN_IN
        and not request.user.is_authenticated
        and not User.objects.with_email(row.email)
    ):
        context["form"] = InvitedForm()
    return render(request, INVITATION, context)


def register_invited(request: HttpRequest, pages: RosterPages, token: str) -> HttpResponse:
    """Registers the invited address, and leads back to the invitation. A 404 where people have no passwords."""
    if not settings.PASSWORD_SIGN_IN:
        raise Http404
    page = resolve_url(pages.invitation, token)
    row = pages.roster.find_invitation(token)
    if request.user.is_authenticated:
        return redirect(page)
    limits.registration(request)
    form = InvitedForm(request.POST)
    try:
        if form.is_valid() and (made := form.register(row.email, pages.roster.accounts[0])):
            return complete_signup(request, made, None, page)
    except Conflict:  # registered in the meantime
        return redirect(page)
    except Busy as busy:
        refuse(form, busy)
    context = _context(request, pages, row, token) | {"form": form}
    return form_page(request, INVITATION, context)


def _context(request: HttpRequest, pages: RosterPages, row: Invitable, token: str) -> dict[str, Any]:
    roster, user = pages.roster, request.user
    return {
        "invitation": row,
        "name": roster.thing_of(row).name,
        "role": roster.roles[row.role],
        "account": roster.accounts[0].label.lower(),
        "register_page": resolve_url(f"{pages.invitation}_register", token),
        "refusal": roster.why_not_accepted(row, user) if isinstance(user, User) else "",
    }

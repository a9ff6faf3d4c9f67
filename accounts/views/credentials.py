"""The account's pages about developer tokens, about where one is signed in, and about what has happened."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts.enums import TokenRight
from accounts.models import DeveloperToken, SecurityEvent, User
from accounts.services import developer_tokens, profile
from accounts.services.confirmation import require_confirmed
from accounts.services.developer_tokens import IssuedToken, create_developer_token, revoke_developer_token
from accounts.sign_in.origins import Origin, device_name, origin_of
from accounts.sign_in.step_up import step_up
from common.errors import Conflict, Invalid
from common.web.forms.pages import UNPROCESSABLE
from common.web.methods import GET_OR_POST
from common.web.pagination import page_request

LIFETIMES = [(30, "30 days"), (90, "90 days"), (365, "One year")]


class DeveloperTokenForm(forms.Form):
    name = forms.CharField(
        label="Name",
        max_length=80,
        help_text="What uses the token, such as “CI of order-bell”.",
        widget=forms.TextInput({"autocomplete": "off"}),
        error_messages={"required": "Enter a name."},
    )
    days = forms.TypedChoiceField(label="Expires after", choices=LIFETIMES, coerce=int, initial=90)
    rights = forms.MultipleChoiceField(
        label="It may also",
        help_text="Without these, it still does everything else that you can do through the API.",
        choices=TokenRight.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
    )

    def create(self, user: User, origin: Origin) -> IssuedToken | None:
        """The new token, or None with the problem added to the name. Raises `NotAllowed` for an unconfirmed address."""
        data = self.cleaned_data
        try:
            return create_developer_token(
                user=user,
                name=data["name"],
                lifetime=timedelta(days=data["days"]),
                rights=data["rights"],
                origin=origin,
            )
        except (Conflict, Invalid) as error:
            self.add_error("name", error.message)
        return None


def _developer(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    if not request.user.is_developer:
        raise PermissionDenied("Developer tokens are for developers. Your account has another role.")
    return request.user


@require_http_methods(GET_OR_POST)
@login_required
@step_up
def tokens(request: HttpRequest) -> HttpResponse:
    """The tokens that work, and a form for another one. The answer to the form is the only page with its text."""
    developer = _developer(request)
    if request.method == "POST":
        require_confirmed(developer)  # a 403 comes before a 422
    form = DeveloperTokenForm(request.POST or None)
    if form.is_bound and form.is_valid() and (issued := form.create(developer, origin_of(request))):
        return render(request, "accounts/token.html", {"issued": issued})
    usable = DeveloperToken.objects.usable(timezone.now()).filter(user=developer).order_by("-id")
    pending = developer_tokens.agreed_by(developer)
    context: dict[str, Any] = {"form": form, "tokens": usable, "pending": pending}
    return render(request, "accounts/tokens.html", context, status=UNPROCESSABLE if form.errors else 200)


@require_POST
@login_required
def revoke_token(request: HttpRequest, token_id: str) -> HttpResponse:
    token = revoke_developer_token(user=_developer(request), token_id=token_id)
    messages.success(request, f"{token.name} no longer works.")
    return redirect("accounts:tokens")


# --- Where one is signed in --------------------------------------------------------------------------


@login_required
def open_sessions(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    found = profile.open_sessions(request.user, current_key=request.session.session_key)
    tokens = DeveloperToken.objects.usable(timezone.now()).filter(user=request.user).order_by("-id")
    context = {"sessions": found, "has_others": len(found) > 1, "tokens": tokens}
    return render(request, "accounts/sessions.html", context)


@require_POST
@login_required
def end_sessions(request: HttpRequest) -> HttpResponse:
    """End the session that the form names, or every other one, and with them the developer tokens if that is selected."""
    assert isinstance(request.user, User)
    if "others" in request.POST:
        with_tokens = "tokens" in request.POST
        profile.end_other_sessions(
            user=request.user, current_key=request.session.session_key, with_tokens=with_tokens
        )
        also = " Your developer tokens no longer work." if with_tokens else ""
        messages.success(request, f"You’re signed out everywhere else.{also}")
    elif profile.end_session(
        user=request.user, kind=request.POST.get("kind", ""), row_id=request.POST.get("id", "")
    ):
        messages.success(request, "The session has ended.")
    else:
        messages.info(request, "That session had already ended.")
    return redirect("accounts:sessions")


@login_required
def security_log(request: HttpRequest) -> HttpResponse:
    assert isinstance(request.user, User)
    page = page_request(request.GET)
    events = SecurityEvent.objects.concerning(request.user)
    rows = events.with_people("name").order_by("-id")[page.window]
    lines = [{"event": row, "device": device_name(row.device)} for row in rows]
    context = {"lines": lines, "page_request": page, "total": events.count()}
    return render(request, "accounts/security_log.html", context)

"""Signing in by the operator's identity provider, proving again who one is there, and connecting an account to it."""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar, cast
from urllib.parse import urlencode

from allauth.account.internal.flows.login import record_authentication
from allauth.account.internal.flows.reauthentication import resume_request
from allauth.account.utils import complete_signup, perform_login
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.forms import role_field
from accounts.models import User
from accounts.services import connections
from accounts.sign_in import limits, pending, provider
from accounts.sign_in.origins import origin_of
from accounts.sign_in.pending import PendingIdentity
from accounts.sign_in.provider import Cancelled, Finished, Identity, ProviderFailed, Unfinished, label
from accounts.sign_in.step_up import BY_PROVIDER, step_up
from common.errors import Conflict, Invalid, TooManyRequests
from common.strangers import may_wait_for_strangers
from common.web.forms.pages import refusals_shown
from common.web.methods import GET_OR_POST
from common.web.requests import is_own_page

log = logging.getLogger(__name__)
View = TypeVar("View", bound=Callable[..., HttpResponse])

GONE: Final = 410
UNREACHABLE: Final = "{label} can’t be reached at the moment. Try again in a few minutes."
NOT_ASKED: Final = "This sign-in was begun in another browser, took too long, or was used already. Try again."
REFUSED: Final = "The answer of {label} couldn’t be checked, so you aren’t signed in. Try again."
CANCELLED: Final = "You didn’t sign in at {label}."
UNVERIFIED: Final = "{label} doesn’t say that your e-mail address is verified, so no account was created. Verify it there, then sign in again."
NOT_ACCEPTED: Final = "The e-mail address {email} can’t be used here: {problem}"
CLOSED: Final = "This account is closed."
TAKEN: Final = "There is an account with {email} already. Sign in to it, then connect {label} on this page."
OTHER_PERSON: Final = "You signed in at {label} as somebody else. Sign in there as the owner of this account."
NOT_FRESH: Final = "{label} didn’t ask you to sign in again, so this proves nothing. Try again."
CONNECTED: Final = "From now on you can sign in with {label}."
DISCONNECTED: Final = "{label} is disconnected."
MAILED: Final = "We sent a link to {email}. Open it in this browser within an hour."
NO_LINK: Final = "This link doesn’t work here. It works for an hour, in the browser in which you asked for it. Sign in again to get another one."


def with_provider(view: View) -> View:
    """A page of sites that have an identity provider. On others it is a 404."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if settings.IDENTITY_PROVIDER is None:
            raise Http404
        return view(request, *args, **kwargs)

    return cast(View, guarded)


@may_wait_for_strangers
@require_http_methods(GET_OR_POST)
@with_provider
def sign_in(request: HttpRequest) -> HttpResponse:
    """The button **Sign in with …**."""
    if request.method != "POST":
        return redirect("account_login")
    next_url = _own(request, request.POST.get("next", ""))
    with refusals_shown(request, TooManyRequests):
        limits.sign_in_from_address(request)
        return _leave(request, provider.LOGIN, next_url)
    return _back(provider.LOGIN, next_url)


@may_wait_for_strangers
@require_GET
@never_cache
@with_provider
def callback(request: HttpRequest) -> HttpResponse:
    """Where the provider sends the browser back to."""
    try:
        done = provider.finish(request)
    except PermissionDenied:
        messages.error(request, NOT_ASKED)
        return redirect("account_login")
    except Unfinished as error:
        log.warning("A sign-in by the identity provider failed: %s", error.__cause__)
        messages.error(request, _words_for(error.__cause__))
        return _back(error.process, error.next_url)
    after = {provider.LOGIN: _after_login, provider.CONNECT: _after_connect, provider.PROVE: _after_proof}
    return after[done.process](request, done)


def _words_for(error: BaseException | None) -> str:
    words = {ProviderFailed: UNREACHABLE, Cancelled: CANCELLED}.get(type(error), REFUSED)  # type: ignore[arg-type]
    return words.format(label=label())


def _leave(request: HttpRequest, process: str, next_url: str) -> HttpResponse:
    """To the provider. A page in between, since browsers hold every redirect after a form to the `form-action` of its page."""
    try:
        url = provider.begin(request, process=process, next_url=next_url)
    except ProviderFailed as error:
        log.warning("The identity provider can't be asked: %s", error)
        messages.error(request, UNREACHABLE.format(label=label()))
        return _back(process, next_url)
    return render(request, "accounts/provider_leave.html", {"url": url})


def _back(process: str, next_url: str) -> HttpResponse:
    """To the page on which it began."""
    page = {
        provider.LOGIN: "account_login",
        provider.CONNECT: "mfa_index",
        provider.PROVE: "prove_by_provider",
    }[process]
    return redirect(f"{reverse(page)}?{urlencode({'next': next_url})}" if next_url else reverse(page))


def _own(request: HttpRequest, url: str) -> str:
    return url if url and is_own_page(url, request) else ""


# Signing in


def _after_login(request: HttpRequest, done: Finished) -> HttpResponse:
    identity = done.identity
    if (user := connections.account_of(identity)) is not None:
        return _sign_in(request, user, done.next_url)
    if not identity.email:
        messages.error(request, UNVERIFIED.format(label=label()))
        return _back(provider.LOGIN, done.next_url)
    if (owner := User.objects.with_email(identity.email)) is not None:
        return _address_taken(request, identity, owner, done.next_url)
    if role := provider.role_of_new_people():
        return _open(request, identity, role, done.next_url)
    pending.keep(request, identity, done.next_url)
    return redirect("accounts:provider_role")


def _sign_in(request: HttpRequest, user: User, next_url: str) -> HttpResponse:
    """A second factor of here is asked for by the library."""
    if not user.is_active:
        messages.error(request, CLOSED)
        return _back(provider.LOGIN, next_url)
    if request.user.is_authenticated and request.user != user:
        logout(request)
    request.sign_in_was_counted = True  # type: ignore[attr-defined]  # when it began
    record_authentication(request, user, BY_PROVIDER)
    response: HttpResponse = perform_login(request, user, redirect_url=next_url or None)
    return response


def _address_taken(request: HttpRequest, identity: Identity, owner: User, next_url: str) -> HttpResponse:
    """The account's owner connects the two, signed in; or, who can't sign in otherwise, by a mail."""
    if settings.PASSWORD_SIGN_IN and connections.signs_in_without_provider(owner):
        messages.error(request, TAKEN.format(email=identity.email, label=label()))
        return _back(provider.LOGIN, reverse("mfa_index"))
    if not connections.may_connect_by_mail(identity):
        messages.error(request, connections.HAS_ANOTHER.format(label=label()))
        return _back(provider.LOGIN, next_url)
    pending.keep(request, identity, next_url)
    return redirect("accounts:provider_mail")


def _open(request: HttpRequest, identity: Identity, role: str, next_url: str) -> HttpResponse:
    try:
        limits.registration(request)
        user = connections.open_account(identity=identity, role=role)
    except TooManyRequests as error:
        messages.error(request, error.message)
        return _back(provider.LOGIN, next_url)
    except Invalid as error:
        problem = error.details[0]["message"] if error.details else error.message
        messages.error(request, NOT_ACCEPTED.format(email=identity.email, problem=problem))
        return _back(provider.LOGIN, next_url)
    except Conflict:  # registered in the meantime
        messages.error(request, TAKEN.format(email=identity.email, label=label()))
        return _back(provider.LOGIN, reverse("mfa_index"))
    if request.user.is_authenticated:
        logout(request)
    request.sign_in_was_counted = True  # type: ignore[attr-defined]
    messages.success(request, f"Welcome, {user.name}.")
    record_authentication(request, user, BY_PROVIDER)
    first = reverse(settings.FIRST_PAGE_OF_ROLE[role])
    response: HttpResponse = complete_signup(request, user, None, next_url or first)
    return response


class RoleForm(forms.Form):
    role = role_field()


@require_http_methods(GET_OR_POST)
@with_provider
def choose_role(request: HttpRequest) -> HttpResponse:
    """For a new person, where the operator hasn't decided it for all."""
    kept = pending.read(request)
    if kept is None:
        return redirect("account_login")
    form = RoleForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        pending.take(request)
        return _open(request, kept.identity, form.cleaned_data["role"], kept.next_url)
    context = {"form": form, "email": kept.identity.email}
    return render(request, "accounts/provider_role.html", context, status=422 if form.errors else 200)


# Connecting by mail


@require_http_methods(GET_OR_POST)
@with_provider
def ask_for_mail(request: HttpRequest) -> HttpResponse:
    """For a person whose address has an account that can't be signed in to without the provider."""
    kept = pending.read(request)
    if kept is None:
        return redirect("account_login")
    if request.method != "POST":
        return render(request, "accounts/provider_mail.html", {"email": kept.identity.email})
    with refusals_shown(request, TooManyRequests):
        limits.mail_request(request)
        connections.mail_connection(email=kept.identity.email, key=kept.key)
        messages.success(request, MAILED.format(email=kept.identity.email))
    return redirect("accounts:provider_mail")


@require_http_methods(GET_OR_POST)
@never_cache
@with_provider
def connect_by_link(request: HttpRequest, token: str) -> HttpResponse:
    """Asks with a button, because mail servers open links. The two are connected once the person is signed in (`accounts.receivers`)."""
    kept = pending.read(request)
    user = connections.account_of_link(token, key=kept.key, identity=kept.identity) if kept else None
    if kept is None or user is None:
        return render(request, "accounts/provider_link.html", {"problem": NO_LINK}, status=GONE)
    if request.method != "POST":
        return render(request, "accounts/provider_link.html", {"email": user.email})
    return _sign_in_to_connect(request, user, kept)


def _sign_in_to_connect(request: HttpRequest, user: User, kept: PendingIdentity) -> HttpResponse:
    if request.user.is_authenticated:
        logout(request)
        pending.keep(request, kept.identity, kept.next_url)
    pending.begin_sign_in(request, str(user.pk))
    return _sign_in(request, user, kept.next_url)


# Connecting on the account's page


@may_wait_for_strangers
@require_http_methods(GET_OR_POST)
@login_required
@with_provider
@step_up
def connect(request: HttpRequest) -> HttpResponse:
    if request.method != "POST":
        return redirect("mfa_index")
    return _leave(request, provider.CONNECT, "")


def _after_connect(request: HttpRequest, done: Finished) -> HttpResponse:
    if (user := _who_began(request, done)) is None:
        return redirect("account_login")
    with refusals_shown(request, Conflict):
        connections.connect(user=user, identity=done.identity, origin=origin_of(request))
        messages.success(request, CONNECTED.format(label=label()))
    return redirect("mfa_index")


@require_http_methods(GET_OR_POST)
@login_required
@with_provider
@step_up
def disconnect(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        with refusals_shown(request, Conflict):
            connections.disconnect(user=cast(User, request.user), origin=origin_of(request))
            messages.success(request, DISCONNECTED.format(label=label()))
    return redirect("mfa_index")


# A fresh proof


@may_wait_for_strangers
@require_http_methods(GET_OR_POST)
@login_required
@with_provider
def prove(request: HttpRequest) -> HttpResponse:
    """For people without a password or a second factor."""
    user = cast(User, request.user)
    is_connected = connections.is_connected(user)
    next_url = _own(request, (request.POST or request.GET).get("next", ""))
    if request.method == "POST" and is_connected:
        return _leave(request, provider.PROVE, next_url)
    context = {"next": next_url, "is_connected": is_connected}
    return render(request, "accounts/prove_by_provider.html", context)


def _after_proof(request: HttpRequest, done: Finished) -> HttpResponse:
    if (user := _who_began(request, done)) is None:
        return redirect("account_login")
    if connections.account_of(done.identity) != user:
        messages.error(request, OTHER_PERSON.format(label=label()))
        return _back(provider.PROVE, done.next_url)
    if not done.is_fresh_proof:
        messages.error(request, NOT_FRESH.format(label=label()))
        return _back(provider.PROVE, done.next_url)
    record_authentication(request, user, BY_PROVIDER, reauthenticated=True)
    request.GET = QueryDict(urlencode({"next": done.next_url}))  # where the library looks for it
    response: HttpResponse | None = resume_request(request)
    return response or redirect(settings.LOGIN_REDIRECT_URL)


def _who_began(request: HttpRequest, done: Finished) -> User | None:
    """The person who is signed in, if it is the one who began this."""
    if isinstance(request.user, User) and str(request.user.pk) == done.user_id:
        return request.user
    messages.error(request, NOT_ASKED)
    return None

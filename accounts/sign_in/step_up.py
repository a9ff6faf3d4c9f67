"""Step-up: asking people who are signed in to prove again who they are, before something that can do harm."""

import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar, cast

from allauth.account import app_settings
from allauth.account.adapter import get_adapter
from allauth.account.authentication import get_authentication_records
from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.reauthentication import suspend_request
from allauth.core.exceptions import ReauthenticationRequired
from django.conf import settings
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import resolve, reverse
from django.utils.http import urlencode

BY_PROVIDER: Final = "socialaccount"  # as the library calls a sign-in by a provider

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def step_up(view: View) -> View:
    """A view whose form works for people who proved who they are within `ACCOUNT_REAUTHENTICATION_TIMEOUT` seconds.

    Others are asked for a passkey, a code or their password, and then the form is processed as they had sent it. Until
    then it is in their session, but for its passwords: the form then asks for these again. `DEBUG` turns this off.
    """
    required = reauthentication_required(view, allow_get=True, enabled=_is_on)

    @wraps(view)
    def asking(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # The library takes a form up again in the request that brought the proof, which is still matched to the page of that.
        request.resolver_match = resolve(request.path_info)
        if request.method == "POST" and _is_on(request) and needs_proof(request):
            return _ask(request)
        try:
            return required(request, *args, **kwargs)
        except ReauthenticationRequired:
            if request.method != "POST" or not request.user.is_authenticated:
                raise
            return _ask(request)

    return cast(View, asking)


def _ask(request: HttpRequest) -> HttpResponse:
    """Keeps the form and leads to the proof.

    The library takes a form up again only where its address is the path alone. The query is kept with the form.
    """
    kept = request.POST.copy()
    for name in [name for name in kept if name.startswith("password")]:
        del kept[name]
    request.POST = kept  # type: ignore[assignment]
    ways = get_adapter().get_reauthentication_methods(request.user)
    page = ways[0]["url"] if ways else reverse("account_login")
    suspend_request(request, page)
    return redirect(f"{page}?{urlencode({REDIRECT_FIELD_NAME: request.path})}")


def fresh(view: View) -> View:
    """A page of the library that asks for a proof by itself, but of people who have a password or a second factor only."""

    @wraps(view)
    def asking(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if needs_proof(request):
            raise ReauthenticationRequired
        return view(request, *args, **kwargs)

    return cast(View, asking)


def needs_proof(request: HttpRequest) -> bool:
    """Whether somebody is signed in who hasn't proved recently who they are, and can. Without an identity provider the library asks
    everybody who can."""
    can = settings.IDENTITY_PROVIDER is not None and request.user.is_authenticated
    return can and not proved_recently(request)


def proved_recently(request: HttpRequest) -> bool:
    """Whether the last sign-in, or the last answer to `step_up`, is recent. An identity provider may have signed somebody in without
    asking, so a sign-in by it is no proof, unless it was made to ask."""
    records: list[dict[str, Any]] = get_authentication_records(request, request.user)
    records = [each for each in records if each["method"] != BY_PROVIDER or each.get("reauthenticated")]
    return bool(records) and time.time() - records[-1]["at"] < app_settings.REAUTHENTICATION_TIMEOUT


def _is_on(request: HttpRequest) -> bool:
    return bool(settings.STEP_UP)

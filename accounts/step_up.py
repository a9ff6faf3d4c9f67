"""Step-up: asking people who are signed in to prove again who they are, before something that can do harm."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from allauth.account import app_settings
from allauth.account.authentication import get_authentication_records
from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


def step_up(view: View) -> View:
    """A view whose form works for people who proved who they are within `ACCOUNT_REAUTHENTICATION_TIMEOUT` seconds.

    Others are asked for a passkey, a code or their password, and then the form is processed as they had sent it. Until
    then it is in their session, so don't use this for forms with passwords. `DEBUG` turns this off.
    """
    decorated: View = reauthentication_required(view, allow_get=True, enabled=_is_on)
    return decorated


def proved_recently(request: HttpRequest) -> bool:
    """Whether the last sign-in, or the last answer to `step_up`, is recent."""
    records: list[dict[str, Any]] = get_authentication_records(request, request.user)
    return bool(records) and time.time() - records[-1]["at"] < app_settings.REAUTHENTICATION_TIMEOUT


def _is_on(request: HttpRequest) -> bool:
    return bool(settings.STEP_UP)

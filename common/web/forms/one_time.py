"""One-time tokens for forms, so that each submission is processed once.

The page after such a form shows a secret, and reloading that page sends the form again. Without a token, a reload would
issue another secret and invalidate the one that the developer has just stored.
"""

import hashlib
import logging
import secrets
from collections.abc import Callable
from datetime import datetime
from time import monotonic, sleep
from typing import Any, Final, TypeVar

from django import forms
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from redis import RedisError

from common.errors import DEFAULT_CODES, ServiceError

log = logging.getLogger(__name__)

LIFETIME: Final = 24 * 3600  # seconds
FIELD: Final = "form_token"
SENT_BEFORE: Final = "This form had been sent before, so it was saved once."
UNFINISHED: Final = "unfinished"
UNFINISHED_FOR: Final = 60  # seconds: longer than a request may take
PATIENCE: Final = 0.5  # seconds that a second press waits for the first; it holds a thread of the web server
STILL_SAVING: Final = "This form was sent a moment ago and is still being saved. Check whether it was saved before you press again."
Answer = TypeVar("Answer")


class StillSaving(ServiceError):
    """409: a second press, while nothing is known of the first."""

    status = 409
    code = DEFAULT_CODES[409]


def new_token() -> str:
    return secrets.token_urlsafe(16)


class OneTimeForm(forms.Form):
    """A form that is processed once."""

    form_token = forms.CharField(widget=forms.HiddenInput, max_length=64, required=False, initial=new_token)


class SecretForm(OneTimeForm):
    """A form that is answered with a secret. Without its token it is refused."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.fields[FIELD].required = True


def once(
    user: AbstractBaseUser, token: str, save: Callable[[], Answer], again: Callable[[datetime], Answer]
) -> Answer:
    """What `save` returns, or what `again` returns if the form was saved before, with the time of the first.

    A save that raises leaves the token unused, and so does one whose process dies, after `UNFINISHED_FOR`. A second press waits for
    the first. Raises `StillSaving` if that takes long. While the cache is unavailable, every press counts as the first.
    """
    key = f"form-token:{user.pk}:{hashlib.sha256(token.encode()).hexdigest()}"
    try:
        first = _claim(key)
    except RedisError:
        log.warning("Could not claim a form token: the cache is unavailable", exc_info=True)
        return save()
    if first:
        return again(first)
    try:
        answer = save()
    except BaseException:
        _mark(key, None)
        raise
    _mark(key, timezone.now())
    return answer


def _claim(key: str) -> datetime | None:
    """None for the first press, else when the form was saved."""
    until = monotonic() + PATIENCE
    while not cache.add(key, UNFINISHED, UNFINISHED_FOR):
        first = cache.get(key, UNFINISHED)
        if first != UNFINISHED:
            return datetime.fromisoformat(first)
        if monotonic() > until:
            raise StillSaving(STILL_SAVING)
        sleep(0.1)
    return None


def pressed_once(request: HttpRequest, to: str, save: Callable[[], HttpResponse]) -> HttpResponse:
    """For a button with `{% form_token %}`. A second press leads to the page `to`, which says so."""

    def again(_first: datetime) -> HttpResponse:
        messages.info(request, SENT_BEFORE)
        return redirect(to)

    token, user = request.POST.get(FIELD, ""), request.user
    if not token or not user.is_authenticated:
        return save()
    try:
        return once(user, token, save, again)
    except StillSaving as error:
        messages.error(request, error.message)
        return redirect(to)


def _mark(key: str, saved_at: datetime | None) -> None:
    try:
        if saved_at:
            cache.set(key, saved_at.isoformat(), LIFETIME)
        else:
            cache.delete(key)
    except RedisError:
        log.warning("Could not mark a form token: the cache is unavailable", exc_info=True)

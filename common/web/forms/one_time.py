"""One-time tokens for forms, so that each submission is processed once.

The page after such a form shows a secret, and reloading that page sends the form again. Without a token, a reload would
issue another secret and invalidate the one that the developer has just stored.
"""

import hashlib
import logging
import secrets
from datetime import datetime
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.cache import cache
from django.http import HttpRequest
from django.utils import timezone
from redis import RedisError

log = logging.getLogger(__name__)

LIFETIME: Final = 24 * 3600  # seconds
FIELD: Final = "form_token"
SENT_BEFORE: Final = "This form had been sent before, so it was saved once."


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


def sent_before(request: HttpRequest) -> bool:
    """Whether a button with `{% form_token %}` was pressed before, which the next page then says."""
    user, token = request.user, request.POST.get(FIELD, "")
    if not token or not user.is_authenticated or claim(user, token) is None:
        return False
    messages.info(request, SENT_BEFORE)
    return True


def claim(user: AbstractBaseUser, token: str) -> datetime | None:
    """Marks a token as used. Returns None on its first use, otherwise the time of the first use.

    While the cache is unavailable, every use counts as the first.
    """
    now = timezone.now()
    try:
        if cache.add(_key(user, token), now.isoformat(), LIFETIME):
            return None
        return datetime.fromisoformat(cache.get(_key(user, token)) or now.isoformat())
    except RedisError:
        log.warning("Could not claim a form token: the cache is unavailable", exc_info=True)
        return None


def release(user: AbstractBaseUser, token: str) -> None:
    """Frees a token whose form could not be processed, so that the user can retry."""
    try:
        cache.delete(_key(user, token))
    except RedisError:
        log.warning("Could not release a form token: the cache is unavailable", exc_info=True)


def _key(user: AbstractBaseUser, token: str) -> str:
    return f"form-token:{user.pk}:{hashlib.sha256(token.encode()).hexdigest()}"

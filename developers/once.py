"""Forms that do their work once, however often a browser sends them.

The page after such a form shows a secret, and reloading it sends the form again. Without this a reload
would quietly issue another secret and end the one that was just stored away.
"""

import hashlib
import logging
import secrets
from datetime import datetime
from typing import Final

from django.core.cache import cache
from django.utils import timezone
from redis import RedisError

from accounts.models import User

log = logging.getLogger(__name__)

KEPT: Final = 24 * 3600  # seconds


def new_token() -> str:
    return secrets.token_urlsafe(16)


def claim(user: User, token: str) -> datetime | None:
    """None for the first use of a form's token, which the caller has from then on; else when that was.

    While the cache does not answer, every use counts as the first.
    """
    now = timezone.now()
    try:
        if cache.add(_key(user, token), now.isoformat(), KEPT):
            return None
        return datetime.fromisoformat(cache.get(_key(user, token)) or now.isoformat())
    except RedisError:
        log.warning("a form's token could not be claimed: the cache does not answer", exc_info=True)
        return None


def release(user: User, token: str) -> None:
    """The work was not done after all: the same form may be sent again."""
    try:
        cache.delete(_key(user, token))
    except RedisError:
        log.warning("a form's token could not be released: the cache does not answer", exc_info=True)


def _key(user: User, token: str) -> str:
    return f"once:{user.pk}:{hashlib.sha256(token.encode()).hexdigest()}"

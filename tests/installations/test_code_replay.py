"""A code used again, at once with others and where the cache that counts its uses is away."""

import logging
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from accounts.models import User
from installations.services import authorization
from marketplace.models import App
from tests.installations.oauth_client import call, code_for, exchange

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
BACKEND = "django.core.cache.backends.redis.RedisCache"
AWAY = {"default": {"BACKEND": BACKEND, "LOCATION": "redis://127.0.0.1:1/0"}}


@pytest.mark.redis
@pytest.mark.parametrize(("seconds", "status"), [(-1, 200), (0, 401)])
def test_only_the_clock_decides_while_redis_is_down(
    listed: App, mira: User, settings: Any, caplog: pytest.LogCaptureFixture, seconds: int, status: int
) -> None:
    """A use that came before the exchange was recorded ends nothing."""
    settings.CACHES = AWAY
    with time_machine.travel(NOW, tick=False) as clock:
        code = code_for(mira, listed)
        token = exchange(listed, code).json()["access_token"]
        clock.shift(timedelta(seconds=seconds))
        assert exchange(listed, code).json()["error"] == "invalid_grant"
        assert call(token).status_code == status
    said = [each for each in caplog.records if each.name == authorization.__name__]
    assert said
    assert all(each.levelno == logging.WARNING and each.exc_info for each in said)


@pytest.mark.redis
def test_use_that_was_never_counted_hides_no_other(listed: App, mira: User, settings: Any) -> None:
    """It began while Redis was down, and ends when Redis is back."""
    code = code_for(mira, listed)
    token = exchange(listed, code).json()["access_token"]
    there = settings.CACHES
    settings.CACHES = AWAY
    with authorization.code_use(code):
        settings.CACHES = there
    with authorization.code_use(code):
        assert exchange(listed, code).json()["error"] == "invalid_grant"
    assert call(token).status_code == 200


def test_use_that_meets_the_last_of_others_ends_nothing(listed: App, mira: User) -> None:
    code = code_for(mira, listed)
    token = exchange(listed, code).json()["access_token"]
    with ExitStack() as later:
        with authorization.code_use(code) as earlier:
            later.enter_context(authorization.code_use(code))
            assert not earlier.is_alone()
        assert exchange(listed, code).json()["error"] == "invalid_grant"
    assert call(token).status_code == 200

"""The platform on a live server, and the sample app beside it, as it is or with a mistake."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from accounts.models import User
from accounts.services.developer_tokens import create_developer_token
from tests.conformance.order_bell import OrderBell, SignIn


@pytest.fixture
def order_bell(dana: User, platform: str, tmp_path: Path) -> Iterator[OrderBell]:
    bell = OrderBell(dana, platform, tmp_path)
    with bell.running:
        yield bell


@pytest.fixture
def sign_in(dana: User, platform: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> SignIn:
    """Signs Dana's command line in, as in a CI."""

    def sign() -> None:
        issued = create_developer_token(user=dana, name="CI", lifetime=timedelta(days=1))
        monkeypatch.setenv("EXTENSION_PLATFORM_URL", platform)
        monkeypatch.setenv("EXTENSION_PLATFORM_TOKEN", issued.text)
        monkeypatch.delenv("EXTENSION_PLATFORM_APP", raising=False)
        monkeypatch.chdir(tmp_path)

    return sign


@pytest.fixture
def platform(live_server: Any, settings: Any) -> str:
    settings.BASE_URL = live_server.url.replace("localhost", "127.0.0.1")
    settings.STORES_URL = live_server.url.replace("localhost", "stores.localhost")
    settings.ALLOWED_HOSTS = ["127.0.0.1", "stores.localhost", "testserver"]
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    settings.AUTH_RATE_LIMITS = False  # each run exchanges four codes
    return str(settings.BASE_URL)

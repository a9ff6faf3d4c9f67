"""The app that serves the current request: ``bell.database``, ``bell.oauth``, and so on."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

from extension_platform_sdk import HookRouter, OAuthClient, PlatformError, WebhookRouter
from flask import current_app
from werkzeug.local import LocalProxy

from .config import Config
from .database import Database

NAME = "order_bell"

Value = TypeVar("Value")

logger = logging.getLogger(__name__)


class Cache:
    """Answers of the platform. If it doesn't respond, the last value stays for the same time, so that shoppers don't wait again and again."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[Any, float]] = {}

    def get(
        self, name: str, business_id: str, seconds: float, read: Callable[[], Value], default: Value
    ) -> Value:
        """A store's value of this name, read again once it is too old; ``default`` if none was ever read."""
        value, until = self._kept.get((name, business_id), (default, 0.0))
        if time.monotonic() >= until:
            try:
                value = read()
            except PlatformError as error:
                logger.warning("Going on with what is known: %s", error)
            self._kept[name, business_id] = value, time.monotonic() + seconds
        return value

    def forget(self, business_id: str) -> None:
        for key in [key for key in list(self._kept) if key[1] == business_id]:
            self._kept.pop(key, None)


@dataclass
class OrderBell:
    """``oauth`` is missing without client credentials. ``note`` says what the app is still waiting for."""

    config: Config
    public_url: str
    database: Database
    webhooks: WebhookRouter
    hooks: HookRouter
    oauth: OAuthClient | None = None
    cache: Cache = field(default_factory=Cache)
    note: str = ""

    @property
    def webhook_url(self) -> str:
        return f"{self.public_url}/webhooks"

    @property
    def platform_origin(self) -> str:
        """What frames the app's pages."""
        parts = urlsplit(self.config.platform_url)
        return f"{parts.scheme}://{parts.netloc}"


bell = cast(OrderBell, LocalProxy(lambda: current_app.extensions[NAME]))

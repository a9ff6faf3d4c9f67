"""The app's parts, put together, and what its buttons do."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from dataclasses import dataclass

from extension_platform_sdk import OAuthClient, PlatformError

from .bell_pay import BellPay
from .config import Config
from .connections import Connection, ConnectionStore
from .guard import Guard
from .hooks import Hooks
from .inbox import Inbox
from .installing import Installing
from .invoices import InvoiceStore
from .manifest import manifest
from .overview import Overview
from .platform import NothingToOrder, Platform
from .receiver import Receiver
from .recent import RecentOrders
from .rings import Rings
from .rules import Rulebook
from .start import Start
from .visitors import Visitors
from .wording import explain, money


@dataclass(frozen=True, slots=True)
class Notice:
    """What a button did, shown once above the page's content.

    ``good`` is false when it failed, and ``None`` when it was called off.
    """

    good: bool | None
    title: str
    text: str


class App:
    """Everything behind the HTTP server, which listens on ``port``."""

    def __init__(self, config: Config, port: int) -> None:
        public_url = config.public_url or f"http://localhost:{port}"
        self.stores_origin = config.stores_origin
        self.connections = ConnectionStore(config.state_file)
        self.inbox = Inbox(config.state_file.with_suffix(".received.jsonl"))
        oauth = _oauth(config, f"{public_url}/callback")
        self.platform = Platform(
            url=config.platform_url,
            webhook_url=f"{public_url}/webhooks",
            connections=self.connections,
            oauth=oauth,
        )
        self.manifest = manifest(public_url)
        self.invoices = InvoiceStore(config.state_file.with_suffix(".invoices.json"))
        self.rings = Rings()
        self.recent = RecentOrders(self.platform)
        self.bell_pay = BellPay(public_url, self.connections, self.platform, self.invoices)
        rulebook = Rulebook(self.platform)
        self.hooks = Hooks(self.connections, rulebook, self.bell_pay)
        self.visitors = Visitors(self.connections, config.client_id)
        self.overview = Overview(self.platform, rulebook, self.inbox, self.rings)
        self.receiver = Receiver(
            self.connections,
            self.inbox,
            forget=[
                each.forget for each in (self.invoices, self.rings, self.recent, rulebook, self.overview)
            ],
        )
        self.start = Start(self.platform, self.connections, config.stores)
        self.installing = Installing(oauth, self.platform, self.start) if oauth else None
        self.guard = Guard(port=port, public_url=public_url)
        self._notices: OrderedDict[str, Notice] = OrderedDict()
        self._run = secrets.token_hex(4)

    @property
    def version(self) -> str:
        """Another text whenever the page would look different."""
        note = hash(self.start.note) & 0xFFFF
        return f"{self._run}-{self.connections.changes}-{self.inbox.changes}-{note:x}"

    def connect(self, form: dict[str, str]) -> Notice:
        """Button **Connect**: the form's ``access_token``, and perhaps its ``webhook_secret``."""
        token = form.get("access_token", "").strip()
        if not (token.startswith("fbat_") and token.isascii() and token.isprintable() and " " not in token):
            return Notice(
                False, "The store was not connected", "An access token is one word that begins with fbat_."
            )
        try:
            connection = self.platform.connect(token, form.get("webhook_secret", "").strip() or None)
        except PlatformError as error:
            return Notice(False, "The store was not connected", explain(error, self.platform.url))
        return Notice(
            True, f"{store_name(connection)} is connected", "Its webhooks appear here as they arrive."
        )

    def place_sample_order(self, form: dict[str, str]) -> Notice:
        """Button **Place a sample order** of the form's ``installation``."""
        connection = self._connection(form)
        if connection is None:
            return _gone()
        title = "No order was placed"
        try:
            order = self.platform.place_sample_order(connection)
        except NothingToOrder:
            return Notice(False, title, "The store has no product that is available and in stock.")
        except PlatformError as error:
            return Notice(False, title, explain(error, self.platform.url))
        amount = money(order.get("amount"), str(order.get("currency") or ""))
        return Notice(
            True,
            f"Order {order.get('orderNumber')} was placed",
            f"{amount} in {store_name(connection)}. Its order.created webhook arrives in a moment.",
        )

    def send_test(self, form: dict[str, str]) -> Notice:
        """Button **Send a test event** of the form's ``installation``."""
        connection = self._connection(form)
        if connection is None:
            return _gone()
        try:
            result = self.platform.send_test(connection)
        except PlatformError as error:
            return Notice(False, "No test event was sent", explain(error, self.platform.url))
        if result.get("success"):
            text = f"This app answered {result.get('httpStatus')} within {result.get('durationMs')} ms."
            return Notice(True, "The test event arrived", text)
        cause = result.get("httpStatus") or result.get("error")
        return Notice(False, "The test event did not arrive", f"The platform's reason: {cause}.")

    def disconnect(self, form: dict[str, str]) -> Notice:
        """Buttons **Disconnect** and **Uninstall** of the form's ``installation``."""
        connection = self._connection(form)
        if connection is None:
            return _gone()
        try:
            self.platform.disconnect(connection)
        except PlatformError as error:
            return Notice(False, "The store is still connected", explain(error, self.platform.url))
        if connection.by_oauth:
            text = "The platform tells this app when to delete what it keeps of the store."
            return Notice(True, f"Order Bell is uninstalled from {store_name(connection)}", text)
        return Notice(True, f"{store_name(connection)} is disconnected", "Its webhook was deleted.")

    def keep_notice(self, notice: Notice) -> str:
        """Keep a notice for the page that follows a form; returns the key to take it with."""
        key = secrets.token_urlsafe(8)
        self._notices[key] = notice
        while len(self._notices) > 20:
            self._notices.popitem(last=False)
        return key

    def take_notice(self, key: str) -> Notice | None:
        """Hand out a notice, once."""
        return self._notices.pop(key, None)

    def _connection(self, form: dict[str, str]) -> Connection | None:
        return self.connections.of_installation(form.get("installation", ""))


def _oauth(config: Config, redirect_uri: str) -> OAuthClient | None:
    if config.client_id is None or config.client_secret is None:
        return None
    return OAuthClient(config.platform_url, config.client_id, config.client_secret, redirect_uri=redirect_uri)


def store_name(connection: Connection) -> str:
    """The store's name, or its id where the app may not read the name."""
    return connection.business_name or f"Store {connection.business_id}"


def _gone() -> Notice:
    return Notice(False, "That store is not connected", "Connect it again with its access token.")

"""A store that one test has to itself, with a clock that the test moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from extension_platform_sdk.cli.config import Account
from extension_platform_sdk.cli.platform import Platform
from extension_platform_sdk.client import AppClient
from extension_platform_sdk.errors import ApiError, PlatformError
from extension_platform_sdk.oauth import Installation
from extension_platform_sdk.transport import Record

from .listening import AppServer, Listening

BUSY_FOR = 30  # seconds


class TestStore:
    """What ``TestPlatform.open_store`` and the fixture ``store`` give.

    ``installation`` is what your app would have got by OAuth: hand it to the app before anything happens. ``client`` calls the app
    API with its token. ``webhook_id`` is that of the app's Webhook URL.
    """

    __test__ = False  # no test case for pytest

    def __init__(
        self, account: Account, api: Platform, app: Record, record: Record, server: AppServer
    ) -> None:
        self._api, self._server = api, server
        self.id: str = record["id"]
        self.business_id: str = record["businessId"]
        self.url: str = record["storeUrl"]
        self.expires_at = datetime.fromisoformat(record["expiresAt"])
        self.installation = _installation(record, app)
        self.client = AppClient(account.url, record["accessToken"])
        self._webhook_id: str | None = record["webhookId"]
        self._app = app
        self._path = f"/developer/test-stores/{self.id}"
        self._listening = Listening(account, app, self.id, server)
        self._known: set[str] = set()  # deliveries that a test waited for

    def __enter__(self) -> TestStore:
        try:
            self._listening.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Delete the store. Should that fail, the platform does it at ``expires_at``."""
        try:
            self._listening.stop()
        finally:
            self.client.close()
            with suppress(PlatformError):
                self._api.delete(self._path)

    @property
    def webhook_id(self) -> str:
        """The ID of the app-defined webhook. An app without a Webhook URL gets it once the store is listened to."""
        if self._webhook_id is None:
            stores = self._api.get(f"/developer/apps/{self._app['id']}/test-stores", limit=100)["data"]
            self._webhook_id = next(each["webhookId"] for each in stores if each["id"] == self.id)
        return str(self._webhook_id)

    # What happens in the store

    def place_order(
        self, *, email: str = "", phone: str = "", name: str = "", product: str = "", quantity: int = 1
    ) -> Record:
        """Place an order as a shopper does. Returns its event, as ``change`` does: ``placed["data"]["orderId"]`` is the order.

        ``email`` or ``phone`` says who orders, ``product`` is the ID of what is ordered. Two orders of one person have the same
        ``shopper.key``; without an address it is always the same person.
        """
        wanted: Record = {"event": "order.created", "quantity": quantity} | _customer(email, phone, name)
        events = self._change(wanted | ({"productId": product} if product else {}))
        return next(each for each in events if each["event"] == "order.created")

    def erase(self, *, email: str = "", phone: str = "") -> Record:
        """Erase a customer of the store, as a merchant does. Returns ``customer.data_erasure``, as ``change`` does.

        Their open orders are delivered first. Without an address and a number, somebody else orders and is erased.
        """
        events = self._change({"event": "customer.data_erasure"} | _customer(email, phone))
        return next(each for each in events if each["event"] == "customer.data_erasure")

    def change(
        self, event: str | None = None, *, scenario: str | None = None, settings: Record | None = None
    ) -> list[Record]:
        """Cause an event, or those of a scenario, by a real change. ``extension-platform trigger --list`` shows the names.

        ``settings`` are those that ``change("installation.updated")`` saves, as the merchant does; they must fit your
        ``settingsSchema``. Returns each event with its ``eventId``, ``data`` and ``deliveries``. Raises ``AssertionError`` if the
        change can't be made, and ``ApiError`` for settings that don't fit.
        """
        wanted: Record = {"event": event} if scenario is None else {"scenario": scenario}
        return self._change(wanted | ({} if settings is None else {"settings": settings}))

    def _change(self, wanted: Record) -> list[Record]:
        steps = self._patiently(lambda: self._api.post(f"{self._path}/changes", wanted))["steps"]
        for step in steps:
            assert not step["problem"], step["problem"]
        return [each for step in steps for each in step["events"]]

    def advance(self, **span: float) -> Record:
        """Let the store's clock go on: ``advance(hours=3)``, with the names of ``timedelta``.

        Everything that falls due by then is sent now, in its order. Returns ``now``, the store's clock, and what ``became`` due.
        """
        seconds = round(timedelta(**span).total_seconds())
        return self._api.post(f"{self._path}/advance", {"seconds": seconds})

    @contextmanager
    def down(self, status: int = 503) -> Iterator[None]:
        """Answer for your app with this status, as if its server were down: nothing reaches it meanwhile."""
        self._server.down_with = status
        try:
            yield
        finally:
            self._server.down_with = None

    def uninstall(self) -> Record:
        """Uninstall the app, as a merchant does. The data erasure follows 48 hours later by the store's clock."""
        return self._api.post(f"{self._path}/uninstall")

    def install(self) -> Installation:
        """Install the app again, which cancels an erasure that waits. Returns the new ``installation``; ``client`` has its token."""
        record = self._api.post(f"{self._path}/install")
        self.client.close()
        self.installation, self._webhook_id = _installation(record, self._app), None
        self.client = AppClient(self._api.url, record["accessToken"])
        return self.installation

    # What your app did

    def wait_for(self, event: str, *, timeout: float = 10, attempts: int | None = None) -> Record:
        """Wait until your app has accepted a delivery of this event, and return it with its attempts.

        The next call waits for the next one. With ``attempts``, wait for a delivery that had so many, successful or not.
        Raises ``AssertionError`` once there was no attempt for ``timeout`` seconds.
        """
        found = self._listening.wait_for(event, timeout=timeout, attempts=attempts, known=self._known)
        assert found, self._failure(event, timeout, attempts)
        if attempts is None:
            self._known.add(found)
        return next(each for each in self.deliveries if each["id"] == found)

    @property
    def deliveries(self) -> list[Record]:
        """The newest 100 deliveries of the store, newest first, with their attempts."""
        return self._data("deliveries")

    @property
    def calls(self) -> list[Record]:
        """The newest 100 calls of your app and of its hooks, newest first. Calls appear after about a second."""
        return self._data("calls")

    def _failure(self, event: str, timeout: float, attempts: int | None) -> str:
        wanted = "that your app accepts" if attempts is None else f"with {attempts} attempts"
        came = self._listening.came(self._known)
        return (
            f"Expected a delivery of {event} {wanted}. Nothing more arrived for {timeout:g} s. "
            f"Your app's responses, without those that an earlier wait returned:\n{came}"
        )

    def _patiently(self, call: Callable[[], Record]) -> Record:
        """Send a call again while the platform is too busy to begin with it, as it may be while many tests run."""
        for _ in range(BUSY_FOR):
            try:
                return call()
            except ApiError as error:
                if error.code != "too_many_waiting":
                    raise
            time.sleep(1)
        return call()

    def _data(self, what: str) -> list[Any]:
        return list(self._api.get(f"{self._path}/{what}", limit=100)["data"])


def _installation(record: Record, app: Record) -> Installation:
    return Installation(
        access_token=record["accessToken"],
        installation_id=record["installationId"],
        webhook_secret=record["webhookSecret"],
        business_id=record["businessId"],
        is_test_install=True,
        scope=" ".join(app["scopes"]),
    )


def _customer(email: str, phone: str, name: str = "") -> Record:
    given = {key: value for key, value in {"email": email, "phone": phone, "name": name}.items() if value}
    return {"customer": given} if given else {}


def waits(delivery: Record) -> list[float]:
    """The seconds between the attempts of a delivery, by the store's clock."""
    due = [datetime.fromisoformat(attempt["dueAt"]) for attempt in delivery["attempts"]]
    return [(later - earlier).total_seconds() for earlier, later in pairwise(due)]

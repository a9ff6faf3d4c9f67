"""The stores this app is connected to, and what it must keep for each: a token and a webhook secret."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .files import write_private


@dataclass(frozen=True, slots=True)
class Connection:
    """One installation of the app.

    ``webhook_id`` is empty until the webhook is known. ``ended_at`` is when the app learned that its token has
    ended; the store's data is kept until the erasure call, as the platform may still cancel that by a new install.
    After the erasure ``access_token`` is empty and ``erased_at`` is set. Webhook id and secret stay: they are no data
    of the store, and without them a repeat of the erasure call could not be verified.

    ``installation_secret`` is the installation's webhook secret, which signs hook calls and session tokens; empty if
    the app only knows an access token. The webhook's own is the same where the app's Webhook URL brought it.
    """

    installation_id: str
    business_id: str
    business_name: str
    currency: str
    is_test_install: bool
    access_token: str
    webhook_id: str
    webhook_secret: str
    webhook_url: str
    events_without_scope: tuple[str, ...]
    connected_at: str
    by_oauth: bool = False
    ended_at: str | None = None
    erased_at: str | None = None
    erased_webhooks: int = 0
    installation_secret: str = ""
    storefront_url: str = ""


class ConnectionStore:
    """Connections by installation, in memory and in a JSON file of mode 0600; safe to use from several threads.

    ``changes`` grows with each write, so that a page can tell whether it is still fresh.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._connections = _load(path)
        self.changes = 0

    def active(self) -> list[Connection]:
        """Every store of which something is kept, the newest first; also where the token has ended."""
        found = [connection for connection in self.all() if not connection.erased_at]
        return sorted(found, key=lambda connection: connection.connected_at, reverse=True)

    def erased(self) -> list[Connection]:
        """What is left of every store that was erased, the newest erasure first."""
        found = [connection for connection in self.all() if connection.erased_at]
        return sorted(found, key=lambda connection: connection.erased_at or "", reverse=True)

    def all(self) -> list[Connection]:
        """The active and the erased ones."""
        with self._lock:
            return list(self._connections.values())

    def of_installation(self, installation_id: str) -> Connection | None:
        """The connection to an installation, unless it was erased."""
        with self._lock:
            connection = self._connections.get(installation_id)
        return connection if connection and not connection.erased_at else None

    def of_business(self, business_id: str) -> Connection | None:
        """The connection to a store that an installation of today gives, the newest of several."""
        found = (each for each in self.active() if each.business_id == business_id and not each.ended_at)
        return next(found, None)

    def secret_of_business(self, business_id: str) -> str | None:
        """The secret to verify a store's hook calls with."""
        connection = self.of_business(business_id)
        return connection.installation_secret if connection else None

    def secret_of_installation(self, installation_id: str) -> str | None:
        """The secret to verify session tokens of an installation with."""
        connection = self.of_installation(installation_id)
        return connection.installation_secret if connection and not connection.ended_at else None

    def secret_of(self, webhook_id: str) -> str | None:
        """The secret to verify a webhook's deliveries with, ``None`` for a webhook that isn't ours."""
        for connection in self.all():
            if webhook_id and connection.webhook_id == webhook_id:
                return connection.webhook_secret
        return None

    def save(self, connection: Connection) -> None:
        """Add the connection, or replace the one of the same installation."""
        with self._lock:
            self._write(self._connections | {connection.installation_id: connection})

    def end(self, installation_id: str, at: str) -> None:
        """Note that the token has ended; the first time counts."""
        with self._lock:
            connection = self._connections.get(installation_id)
            if connection and not connection.ended_at:
                self._write(self._connections | {installation_id: replace(connection, ended_at=at)})

    def remove(self, installation_id: str) -> None:
        """Forget a connection altogether."""
        with self._lock:
            self._write({key: value for key, value in self._connections.items() if key != installation_id})

    def erase(self, webhook_id: str, at: str, *, webhooks: int) -> None:
        """Keep of the store behind a webhook only what verifies a repeat of its erasure call, and what to show for it.

        ``webhooks`` says how many received ones were deleted with it.
        """
        with self._lock:
            self._write(
                {
                    key: replace(
                        value,
                        access_token="",
                        business_name="",
                        currency="",
                        installation_secret="",
                        storefront_url="",
                        erased_at=at,
                        erased_webhooks=webhooks,
                    )
                    if value.webhook_id == webhook_id and not value.erased_at
                    else value
                    for key, value in self._connections.items()
                }
            )

    def _write(self, connections: dict[str, Connection]) -> None:
        """The file first: what could not be kept must not be answered as done."""
        rows = [asdict(connection) for connection in connections.values()]
        write_private(self._path, json.dumps({"connections": rows}, indent=2) + "\n")
        self._connections = connections
        self.changes += 1


def _load(path: Path) -> dict[str, Connection]:
    """Raises ``ValueError`` for a file that isn't ours: starting empty would overwrite it."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["connections"]
        connections = [Connection(**row) for row in rows]
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not a state file of this app: {error}") from error
    return {connection.installation_id: connection for connection in connections}

"""Visitors of the admin page: merchants, identified only by the platform's session token.

The token lives for a minute. A page that stays open gets a session of this app for it, which it keeps in its script:
cookies of a framed page are third-party cookies, which browsers refuse.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass

from extension_platform_sdk import InvalidSession, read_session_token

from .connections import Connection, ConnectionStore

SESSION = 900  # seconds
REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class _Visit:
    installation_id: str
    until: float


class Visitors:
    """Sessions by their key, in the memory of this process; safe to use from several threads."""

    def __init__(self, connections: ConnectionStore, client_id: str | None) -> None:
        self._connections = connections
        self._client_id = client_id
        self._lock = threading.Lock()
        self._visits: OrderedDict[str, _Visit] = OrderedDict()

    def let_in(self, token: str, business_id: str) -> str:
        """Begin a session for a session token, and return its key.

        ``business_id`` is the one that the page received. It gives no access: a page with another one than the token's is
        forged. Raises ``InvalidSession``.
        """
        if self._client_id is None:
            raise InvalidSession("this app was started without its Client ID")
        said = read_session_token(
            token, client_id=self._client_id, secret=self._connections.secret_of_installation
        )
        connection = self._connections.of_installation(said.installation_id)
        if connection is None or {connection.business_id, business_id} != {said.business_id}:
            raise InvalidSession("the token is of another store")
        key = secrets.token_urlsafe(24)
        with self._lock:
            self._visits[key] = _Visit(said.installation_id, time.monotonic() + SESSION)
            while len(self._visits) > REMEMBERED:
                self._visits.popitem(last=False)
        return key

    def store_of(self, key: str, business_id: str) -> Connection:
        """The store that a session may see. Raises ``InvalidSession``."""
        with self._lock:
            visit = self._visits.get(key)
        if visit is None or visit.until < time.monotonic():
            raise InvalidSession("the session is over")
        connection = self._connections.of_installation(visit.installation_id)
        if connection is None or connection.ended_at or connection.business_id != business_id:
            raise InvalidSession("the session is not for this store")
        return connection

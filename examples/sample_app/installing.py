"""Installing on a store by OAuth: from the press of **Install** to the connection."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from extension_platform_sdk import (
    Authorization,
    OAuthClient,
    OAuthError,
    PlatformError,
    StateMismatch,
    read_callback,
)

from .connections import Connection
from .platform import Platform
from .start import Start

BEGUN_FOR = 600  # seconds from Install on this app's page to the answer
REMEMBERED = 1000  # begun installations, and codes

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class _Begun:
    code_verifier: str
    until: float


class Installing:
    """Installations under way, in the memory of this process; an app on several servers keeps them in its sessions.

    A code is sent to the platform once, whatever comes of it: a browser may repeat the address, and the platform takes a
    second use of a code for a theft and ends the token.
    """

    def __init__(self, oauth: OAuthClient, platform: Platform, start: Start) -> None:
        self._oauth = oauth
        self._platform = platform
        self._start = start
        self._lock = threading.Lock()
        self._begun: OrderedDict[str, _Begun] = OrderedDict()
        self._used: OrderedDict[str, Connection | None] = OrderedDict()

    def begin(self) -> Authorization:
        """Where to send the browser, and the ``state`` to keep with it."""
        begun = self._oauth.begin()
        with self._lock:
            _remember(self._begun, begun.state, _Begun(begun.code_verifier, time.monotonic() + BEGUN_FOR))
        return begun

    def finish(self, query: Mapping[str, str], *, state: str) -> Connection:
        """Take the answer that a browser brought; ``state`` is what was kept with it, perhaps empty.

        An answer without a state is that of a merchant who pressed **Install** in the marketplace: nothing was begun
        here, so there is nothing to compare.

        Raises the SDK's ``PlatformError``: ``StateMismatch`` for an answer that is not this browser's, ``OAuthError``
        where the merchant or the platform said no.
        """
        with self._lock:
            used = _digest(query.get("code", ""))
            if connection := self._used.get(used):
                return connection
            expected = state if "state" in query else None
            code = read_callback(query, state=expected)
            verifier = None if expected is None else self._take_verifier(expected)
            if used in self._used:
                raise OAuthError("invalid_grant", "The code was used before")
            _remember(self._used, used, None)
            installed = self._oauth.exchange(code, code_verifier=verifier)
            self._used[used] = kept = self._platform.keep(installed)
        try:
            return self._platform.connect(installed.access_token, installed.webhook_secret)
        except PlatformError:  # the webhook and the store's name can wait
            self._start.also(installed.access_token)
            return kept

    def _take_verifier(self, state: str) -> str:
        begun = self._begun.pop(state, None)
        if begun is None or begun.until < time.monotonic():
            raise StateMismatch("the installation was begun too long ago")
        return begun.code_verifier


def _digest(code: str) -> str:
    return hashlib.sha256(code.encode(errors="replace")).hexdigest()


def _remember(kept: OrderedDict[str, Value], key: str, value: Value) -> None:
    kept[key] = value
    while len(kept) > REMEMBERED:
        kept.popitem(last=False)

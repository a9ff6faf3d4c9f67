"""Connecting in the background: what could not be done at once.

At the start that is all of it, since platform and app may start in any order.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence

from extension_platform_sdk import ApiError, PlatformError, RateLimited

from .connections import ConnectionStore
from .platform import Platform, SecretNeeded
from .wording import explain

logger = logging.getLogger(__name__)


class Start:
    """``note`` says, for the page, what is still waited for or could not be done; ``None`` when there is nothing.

    ``stores`` are access tokens, each with its installation's webhook secret where that is known; the stores that are
    connected already bring their own.
    """

    def __init__(
        self,
        platform: Platform,
        connections: ConnectionStore,
        stores: Sequence[tuple[str, str | None]],
    ) -> None:
        self._platform = platform
        self._secrets = dict(stores)
        self._tokens = _tokens_to_connect(platform, connections, list(self._secrets))
        self._stopped = threading.Event()
        self.note: str | None = None

    def run_in_background(self) -> None:
        """Begin, without waiting for the end."""
        if self._tokens:
            self._begin(self._tokens)

    def also(self, access_token: str) -> None:
        """Connect one more, without waiting for the end."""
        self._begin([access_token])

    def stop(self) -> None:
        """Give up what is left."""
        self._stopped.set()

    def _begin(self, tokens: list[str]) -> None:
        self.note = "Connecting to the platform…"
        threading.Thread(target=self._run, args=(tokens,), name="start", daemon=True).start()

    def _run(self, tokens: list[str]) -> None:
        problems = [problem for problem in map(self._connect, tokens) if problem]
        self.note = " ".join(problems) or None

    def _connect(self, token: str) -> str | None:
        """Try until the platform says yes, or no for good; returns that no in plain words."""
        for delay in _delays():
            try:
                connection = self._platform.connect(token, self._secrets.get(token))
            except PlatformError as error:
                problem = explain(error, self._platform.url)
                if _is_final(error):
                    logger.warning("A store was not connected: %s", problem)
                    return problem
                if self.note != problem:
                    logger.info("%s Trying again.", problem)
                self.note = problem
                if self._stopped.wait(delay):
                    return None
            else:
                logger.info("Connected to store %s", connection.business_name or connection.business_id)
                return None
        return None


def _tokens_to_connect(platform: Platform, connections: ConnectionStore, given: Sequence[str]) -> list[str]:
    """The given tokens that are not connected, and stores whose webhook leads to another address than ours."""
    active = [each for each in connections.active() if not each.ended_at]
    tokens = [each.access_token for each in active if each.webhook_url != platform.webhook_url]
    known = {each.access_token for each in active}
    return [token for token in given if token not in known] + tokens


def _is_final(error: PlatformError) -> bool:
    """An answer that will be the same next time."""
    if isinstance(error, ApiError):
        return not isinstance(error, RateLimited) and error.status_code < 500
    return isinstance(error, SecretNeeded)


def _delays() -> Iterator[float]:
    """Seconds: half, one, two, … and then every fifteen, without end."""
    delay = 0.5
    while True:
        yield delay
        delay = min(delay * 2, 15)

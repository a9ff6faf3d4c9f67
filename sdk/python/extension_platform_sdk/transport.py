"""HTTP to the platform: which proxies, and calls with an access token, of which what went wrong is one of the SDK's errors."""

from __future__ import annotations

import re
import time
import uuid
from copy import copy
from typing import Any, TypeVar, cast
from urllib.parse import urlsplit

import requests
from requests.auth import AuthBase

from .envelope import TRACEPARENT_HEADER
from .errors import ApiError, RateLimited, Unreachable, error_from

Record = dict[str, Any]
T = TypeVar("T")

LOCAL = ("localhost", "127.0.0.1", "::1")
AROUND = " \t\r\n\ufeff"
SAFE = ("GET", "HEAD", "OPTIONS")
FIRST_PAUSE = 0.25  # seconds before a call is retried; twice as long before the next
STILL_RUNS = "idempotency_key_in_progress"


def is_local(host: str) -> bool:
    """Whether a host is this machine."""
    return host in LOCAL or host.endswith(".localhost")


class Session(requests.Session):
    """Uses the proxies that the environment names, but for this machine, which no proxy can reach for us.

    All requests of the SDK and its command line are sent with one.
    """

    def merge_environment_settings(
        self, url: Any, proxies: Any, stream: Any, verify: Any, cert: Any
    ) -> Any:  # a mapping, for which each version of the types has another name
        merged = super().merge_environment_settings(url, proxies, stream, verify, cert)
        if is_local(urlsplit(url).hostname or ""):
            merged["proxies"] = {}
        return merged


def clean_secret(text: str, name: str) -> str:
    """A token or secret as it was issued: without white space and a byte order mark around it, as files and shells add.

    Raises ``ValueError`` for one that can't be sent, with ``name`` and without the secret.
    """
    cleaned = text.strip(AROUND)
    if not re.fullmatch(r"[!-~]*", cleaned):
        raise ValueError(
            f"{name} has a space, a quotation mark or another character that no token has. Copy it again."
        )
    return cleaned


class Transport:
    """Beneath ``AppClient``, which says what its arguments mean."""

    def __init__(
        self, base_url: str, token: str, *, timeout: float, wait_on_rate_limit: bool, retries: int = 2
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._timeout = timeout
        self._wait_on_rate_limit = wait_on_rate_limit
        self._retries = retries
        self._headers: dict[str, str] = {}
        self._session = Session()
        self._session.auth = _Bearer(clean_secret(token, "The access token"))
        self._session.headers["Accept"] = "application/json"

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def following(self, traceparent: str | None) -> Transport:
        """A transport over the same connections, whose calls carry this header."""
        found = copy(self)
        found._headers = {TRACEPARENT_HEADER: traceparent} if traceparent else {}  # noqa: SLF001 - our own
        return found

    def record(
        self,
        kind: type[T],
        method: str,
        path: str,
        body: Record | None = None,
        *,
        query: Record | None = None,
        headers: dict[str, str] | None = None,
    ) -> T:
        """Send a call that is answered with a JSON object, and return that. ``kind`` is for type checkers alone."""
        response = self.send(method, path, body, query=query, headers=headers)
        try:
            record = response.json()
        except ValueError:
            record = None
        if not isinstance(record, dict):
            raise ApiError(response.status_code, "the answer is not a JSON object")
        return cast(T, record)

    def send(
        self,
        method: str,
        path: str,
        body: Record | None = None,
        *,
        query: Record | None = None,
        headers: dict[str, str] | None = None,
    ) -> requests.Response:
        """Send a call, and return the 2xx answer. One 429 is waited out where that was asked for.

        A call whose connection is lost is retried, ``retries`` times. All that change something have an Idempotency-Key, so
        the platform carries them out once.

        Raises ``ApiError`` for any other answer, and ``Unreachable`` when none came.
        """
        if method not in SAFE:
            headers = {"Idempotency-Key": str(uuid.uuid4())} | (headers or {})
        pause = FIRST_PAUSE
        for left in range(self._retries, -1, -1):
            try:
                return self._send_once(method, path, body, query, headers)
            except RateLimited as limit:
                if not self._wait_on_rate_limit or limit.retry_after is None:
                    raise
                time.sleep(limit.retry_after)
                return self._send_once(method, path, body, query, headers)
            except ApiError as error:
                if not left or error.code != STILL_RUNS:
                    raise
            except Unreachable as error:
                if not left or not _was_lost(error.__cause__):
                    raise
            time.sleep(pause)
            pause *= 2
        raise AssertionError("the last try returns or raises")

    def _send_once(
        self,
        method: str,
        path: str,
        body: Record | None,
        query: Record | None,
        headers: dict[str, str] | None,
    ) -> requests.Response:
        try:
            response = self._session.request(
                method,
                self._base_url + path,
                params=query,
                json=body,
                headers=self._headers | (headers or {}),
                timeout=self._timeout,
                allow_redirects=False,  # no endpoint redirects, and the token goes nowhere else
            )
        except requests.RequestException as error:
            raise Unreachable(f"no answer from {self._base_url} ({type(error).__name__})") from error
        if not 200 <= response.status_code < 300:
            raise error_from(response)
        return response


def _was_lost(error: BaseException | None) -> bool:
    """Whether a connection was refused or ended. A platform that takes too long isn't asked again."""
    return isinstance(error, requests.ConnectionError) and not isinstance(error, requests.Timeout)


class _Bearer(AuthBase):
    """Sets the header after everything else: a plain session header would lose to an entry in ``.netrc``."""

    def __init__(self, token: str) -> None:
        self._value = f"Bearer {token}"

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        request.headers["Authorization"] = self._value
        return request

"""What can go wrong when an app calls the platform."""

from __future__ import annotations

import re
from typing import Any

import requests

_RESOURCE_METADATA = re.compile(r'\bresource_metadata="([^"]+)"')


class PlatformError(Exception):
    """The base of every error that ``AppClient`` and ``OAuthClient`` raise."""


class Unreachable(PlatformError):
    """No answer came: the address is wrong, the platform is down, or it took longer than the timeout.

    Whether the call had an effect is unknown. A lost connection was tried three times, under one Idempotency-Key.
    """


class ApiError(PlatformError):
    """The platform answered with an error.

    ``status_code`` is the HTTP status, ``message`` says what is wrong, ``error`` is the status's name, and
    ``details`` is a list of ``{"field": str, "message": str}``, empty unless the input was invalid. Name the
    ``request_id`` when you ask for help; it is ``None`` where the answer has none. ``code`` is the stable name of the
    error that ``/docs/errors/`` explains, such as ``missing_scope``; ``None`` if something in between answered.
    ``resource_metadata`` is where a 401 of the app API leads: the document that names its authorization server (RFC 9728).
    """

    def __init__(
        self,
        status_code: int,
        message: str,
        error: str = "",
        details: list[dict[str, Any]] | None = None,
        *,
        request_id: str | None = None,
        code: str | None = None,
        resource_metadata: str | None = None,
    ) -> None:
        super().__init__(f"{status_code}: {message}")
        self.status_code = status_code
        self.message = message
        self.error = error
        self.details = details or []
        self.request_id = request_id
        self.code = code
        self.resource_metadata = resource_metadata


class RateLimited(ApiError):
    """429: more than 60 calls in a minute. ``retry_after`` is the seconds to wait, ``None`` when not said."""

    def __init__(
        self,
        message: str,
        error: str = "",
        retry_after: float | None = None,
        *,
        request_id: str | None = None,
        code: str | None = None,
    ) -> None:
        super().__init__(429, message, error, request_id=request_id, code=code)
        self.retry_after = retry_after


class OAuthError(PlatformError):
    """The authorization server said no (RFC 6749 sections 4.1.2.1 and 5.2).

    ``error`` is the RFC's code, such as "access_denied" or "invalid_grant", ``description`` its words for developers,
    perhaps empty. ``status_code`` and ``request_id`` are those of the token endpoint's answer, ``None`` for one that the
    browser brought.
    """

    def __init__(
        self,
        error: str,
        description: str = "",
        *,
        status_code: int | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{error}: {description}" if description else error)
        self.error = error
        self.description = description
        self.status_code = status_code
        self.request_id = request_id


class StateMismatch(PlatformError):
    """The browser brought an answer to something that it was not sent away with: use nothing of it."""


def error_from(response: requests.Response) -> ApiError:
    """Make an error from a response that isn't 2xx. It may come from a proxy in between, and not be JSON."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        body = {}
    message = str(body.get("message") or response.reason or "no message")
    error = str(body.get("error") or response.reason or "")
    request_id, code = (response.headers.get(name) for name in ("X-Request-Id", "X-Error-Code"))
    if response.status_code == 429:
        wait = response.headers.get("Retry-After", "")
        seconds = float(wait) if wait.isdecimal() else None
        return RateLimited(message, error, seconds, request_id=request_id, code=code)
    found = body.get("details")
    details = found if isinstance(found, list) else None
    challenge = _RESOURCE_METADATA.search(response.headers.get("WWW-Authenticate", ""))
    return ApiError(
        response.status_code,
        message,
        error,
        details,
        request_id=request_id,
        code=code,
        resource_metadata=challenge[1] if challenge else None,
    )

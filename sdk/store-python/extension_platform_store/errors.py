"""What can go wrong when a shop calls the platform."""

from __future__ import annotations

from typing import Any

import requests


class PlatformError(Exception):
    """The base of every error that ``StoreClient`` raises."""


class Unreachable(PlatformError):
    """No answer came in time. Whether the call had an effect is unknown: rows may be pushed once more, a payment is asked for."""


class ApiError(PlatformError):
    """The platform answered with an error.

    ``status_code`` is the HTTP status, ``code`` the stable name of the error that ``/docs/errors/`` explains, or ``None``
    if something in between answered. ``details`` is a list of ``{"field": str, "message": str}``. ``retry_after`` is the
    seconds to wait, ``None`` when not said.
    """

    def __init__(
        self,
        status_code: int,
        message: str,
        *,
        code: str | None = None,
        details: list[dict[str, Any]] | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
    ) -> None:
        super().__init__(f"{status_code}: {message}")
        self.status_code = status_code
        self.message = message
        self.code = code
        self.details = details or []
        self.retry_after = retry_after
        self.request_id = request_id

    @property
    def may_pass(self) -> bool:
        """Whether the same call may succeed later: 429, or the platform's own failure."""
        return self.status_code == 429 or self.status_code >= 500


def error_from(response: requests.Response) -> ApiError:
    """Make an error from a response that isn't 2xx. It may come from a proxy in between, and not be JSON."""
    try:
        body = response.json()
    except ValueError:
        body = None
    if not isinstance(body, dict):
        body = {}
    details, wait = body.get("details"), response.headers.get("Retry-After", "")
    return ApiError(
        response.status_code,
        str(body.get("message") or response.reason or "no message"),
        code=response.headers.get("X-Error-Code"),
        details=details if isinstance(details, list) else None,
        retry_after=float(wait) if wait.isdecimal() else None,
        request_id=response.headers.get("X-Request-Id"),
    )

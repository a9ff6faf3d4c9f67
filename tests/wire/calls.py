"""Calls of any endpoint."""

from collections.abc import Callable
from typing import Any

from developers.docs.errors import CODES

Call = Callable[..., Any]


def problem(response: Any, path: str) -> str | None:
    """What is wrong with an answer, whatever it answers: None where nothing is."""
    status = response.status_code
    if "X-Request-Id" not in response:
        return f"{status} without a request id"
    if path.startswith(("/app-api", "/webhooks", "/store-api")):
        missing = [name for name in ("Limit", "Remaining", "Reset") if f"X-RateLimit-{name}" not in response]
        if missing:
            return f"{status} without rate headers"
    if status < 400:
        return None
    if status >= 500:
        return f"{status}: {response.content[:300]!r}"
    if response.headers.get("X-Error-Code") not in CODES:
        return f"{status} with the code {response.headers.get('X-Error-Code')}"
    if response.headers.get("Content-Type") != "application/json":
        return f"{status} as {response.headers.get('Content-Type')}"
    body = response.json()
    if path == "/developer/device/token":  # in the shape of RFC 6749
        return (
            None if body.keys() == {"error", "error_description"} else f"{status} in the wrong shape: {body}"
        )
    told = {"statusCode", "message", "error"}
    if not told <= body.keys() <= told | {"details"} or body["statusCode"] != status or not body["message"]:
        return f"{status} in the wrong shape: {body}"
    return None

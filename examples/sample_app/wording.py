"""Plain words: for what the platform answered, and for what a webhook says."""

from __future__ import annotations

from typing import Any

from extension_platform_sdk import ApiError, OAuthError, PlatformError, RateLimited

from .inbox import Received
from .platform import SecretNeeded

_HINTS = {
    401: "A token ends when the app is uninstalled, and at the next test install. Copy the current one.",
    403: "The app needs a further permission (scope) for this.",
}


_OAUTH_HINTS = {
    "access_denied": "The merchant pressed Cancel, so nothing was connected.",
    "invalid_grant": "A code works once and for 60 seconds. Begin again.",
    "invalid_client": "The Client Secret may have been regenerated: give this app the current one.",
}


def explain(error: PlatformError, platform_url: str) -> str:
    """Say what went wrong and what to do: the platform's own message, and a hint where there is one."""
    if isinstance(error, RateLimited):
        wait = f"{error.retry_after:.0f} seconds" if error.retry_after else "a minute"
        return f"Too many calls in a minute. Try again in {wait}."
    if isinstance(error, SecretNeeded):
        return "The app's Webhook URL leads here, so its webhook secret is needed as well."
    if isinstance(error, OAuthError):
        said = f"The platform says: {(error.description or error.error).rstrip('.')}."
        return _OAUTH_HINTS.get(error.error) or said
    if not isinstance(error, ApiError):
        return f"The platform at {platform_url} does not answer. Is it running?"
    message = error.message.rstrip(".")
    details = "; ".join(f"{each.get('field')}: {each.get('message')}" for each in error.details)
    said = f"The platform says: {message} ({details})." if details else f"The platform says: {message}."
    hint = _HINTS.get(error.status_code)
    return f"{said} {hint}" if hint else said


def summarize(call: Received, currency: str) -> str:
    """One line on what happened in the store, from the event's ``data``; empty where there is nothing to add."""
    if not isinstance(call.data, dict):
        return ""
    data: dict[str, Any] = call.data
    if call.event == "order.created":
        return f"Order {data.get('orderNumber', '?')}: {money(data.get('amount'), currency)}"
    if call.event.startswith("payment."):
        how = str(data.get("status", "?")).lower()
        return f"Order {data.get('orderNumber', '?')}: {money(data.get('amount'), currency)} {how}"
    if call.event.startswith("order."):
        move = f"{data.get('previousStatus', '?')} → {data.get('status', '?')}"
        return f"Order {data.get('orderNumber', '?')}: {move}"
    if "stock" in data and "threshold" in data:
        return f"{data.get('name', '?')}: {data['stock']} in stock"
    if call.event.startswith("product."):
        return str(data.get("name") or data.get("slug") or "")
    if call.event == "business.data_erasure":
        return "Everything kept of this store was deleted"
    return str(data.get("message") or "")


def money(amount: object, currency: str) -> str:
    """An amount in major units, ``1,234.50 USD``. The event carries no currency, so it may be unknown."""
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        return "?"
    return f"{amount:,.2f} {currency}".rstrip()

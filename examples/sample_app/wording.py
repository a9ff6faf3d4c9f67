"""Plain words: for what the platform answered, and for what a webhook says."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from extension_platform_sdk import ApiError, OAuthError, PlatformError, RateLimited, to_major

from .bell import bell
from .platform import NothingToOrder, SecretNeeded

_HINTS = {
    401: "A token ends when the app is uninstalled, and at the next test install. Copy the current one.",
    403: "The app needs a further permission (scope) for this.",
}

_OAUTH_HINTS = {
    "access_denied": "The merchant pressed Cancel, so nothing was connected.",
    "invalid_grant": "A code works once and for 60 seconds. Begin again.",
    "invalid_client": "The Client Secret may have been regenerated: give this app the current one.",
}

# What shoppers read, in the languages of stores besides English. A text of the manifest's defaults is here as well: another one is the
# merchant's own, and stays as it is.
_SHOPPERS = {
    "de": {
        "Ring us": "Klingeln",
        "We heard the bell. We look at it between two customers.": "Wir haben die Klingel gehört und kümmern uns, sobald wir können.",
        "We heard the bell.": "Wir haben die Klingel gehört.",
        "The bell is out of order.": "Die Klingel ist außer Betrieb.",
        " Or call ": " Oder rufen Sie an: ",
        "Just ordered": "Gerade bestellt",
        "No orders yet. The first one rings the bell.": "Noch keine Bestellungen. Die erste läutet die Glocke.",
        "See more": "Mehr ansehen",
        " and {number} more": " und {number} weitere",
    },
    "fr": {
        "Ring us": "Sonner",
        "We heard the bell. We look at it between two customers.": "Nous avons entendu la sonnette et venons dès que possible.",
        "We heard the bell.": "Nous avons entendu la sonnette.",
        "The bell is out of order.": "La sonnette est hors service.",
        " Or call ": " Ou appelez le ",
        "Just ordered": "Commandé à l’instant",
        "No orders yet. The first one rings the bell.": "Pas encore de commande. La première fera sonner la cloche.",
        "See more": "Voir plus",
        " and {number} more": " et {number} de plus",
    },
}


def shopper_texts(locale: str) -> dict[str, str]:
    """English texts with those of a store's language; empty for one that the app doesn't speak."""
    return _SHOPPERS.get(locale.partition("-")[0].lower(), {})


def explain(error: PlatformError) -> str:
    """Say what went wrong and what to do: the platform's own message, and a hint where there is one."""
    if isinstance(error, RateLimited):
        wait = f"{error.retry_after:.0f} seconds" if error.retry_after else "a minute"
        return f"Too many calls in a minute. Try again in {wait}."
    if isinstance(error, SecretNeeded):
        return "The app's Webhook URL leads here, so its webhook secret is needed as well."
    if isinstance(error, NothingToOrder):
        return "The store has no product that is available and in stock."
    if isinstance(error, OAuthError):
        said = f"The platform says: {(error.description or error.error).rstrip('.')}."
        return _OAUTH_HINTS.get(error.error) or said
    if not isinstance(error, ApiError):
        return f"The platform at {bell.config.platform_url} does not answer. Is it running?"
    message = error.message.rstrip(".")
    details = "; ".join(f"{each.get('field')}: {each.get('message')}" for each in error.details)
    said = f"The platform says: {message} ({details})." if details else f"The platform says: {message}."
    return f"{said} {_HINTS.get(error.status_code, '')}".rstrip()


def summarize(call: Mapping[str, Any], currency: str) -> str:
    """One line on what happened in the store, from the event's ``data``; empty where there is nothing to add."""
    event, data = call["event"], call["data"]
    if not isinstance(data, dict):
        return ""
    order = f"Order {data.get('orderNumber', '?')}"
    if event == "order.created":
        return f"{order}: {money(data.get('amount'), currency)}"
    if event.startswith("payment."):
        return f"{order}: {money(data.get('amount'), currency)} {plain(data.get('status', '?'))}"
    if event.startswith("order."):
        return f"{order}: {plain(data.get('previousStatus', '?'))} → {plain(data.get('status', '?'))}"
    if "stock" in data and "threshold" in data:
        return f"{data.get('name', '?')}: {data['stock']} in stock"
    if event.startswith("product."):
        return str(data.get("name") or data.get("slug") or "")
    if event == "business.data_erasure":
        return "Everything kept of this store was deleted"
    return str(data.get("message") or "")


def source(call: Mapping[str, Any]) -> str:
    """The body: of a verified call its envelope, of another one the text as it came."""
    if isinstance(call["data"], str):
        return call["data"] or "(the body was empty)"
    names = {
        "event": "event",
        "timestamp": "timestamp",
        "webhookId": "webhook_id",
        "businessId": "business_id",
        "data": "data",
    }
    return json.dumps({key: call[name] for key, name in names.items()}, indent=2, ensure_ascii=False)


def money(amount: object, currency: str) -> str:
    """An amount in major units, ``1,234.50 USD``. The event carries no currency, so it may be unknown."""
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        return "?"
    return f"{amount:,.2f} {currency}".rstrip()


def minor_money(amount: int, currency: str) -> str:
    return money(to_major(amount, currency), currency)


def plain(code: object) -> str:
    """``IN_DELIVERY`` as people write it."""
    return str(code).lower().replace("_", " ")


def for_people(text: str) -> str:
    """A time of the platform, as ``20 Nov 2026, 15:04:05 UTC``."""
    moment = datetime.fromisoformat(text).astimezone(UTC)
    return f"{moment.day} {moment:%b %Y, %H:%M:%S} UTC"

"""Reads the orders that something happened to, one after the other: events don't say who ordered.

A store's app API takes 60 requests a minute. A busy store has more orders than that, so they wait here, in the database, and the
webhooks are answered at once.
"""

import threading

import cards
import known_stores
from extension_platform_sdk import ApiError, PlatformError, RateLimited

LOOKS = 1.0  # seconds between two looks for orders that are due again
LATER = 30.0  # seconds, where the platform can't be reached
MUCH_LATER = 3600.0  # where the store has paused the app, or uninstalled it

_woken = threading.Event()


def wake() -> None:
    """Something is due."""
    _woken.set()


def start() -> None:
    threading.Thread(target=_run, daemon=True).start()


def _run() -> None:
    while True:
        _woken.clear()
        while read_next():
            pass
        _woken.wait(LOOKS)


def read_next() -> bool:
    """Read the order that has waited longest, and say whether there was one."""
    due = cards.next_due()
    if due is None:
        return False
    client = known_stores.client_of(due["business_id"])
    if client is None:
        cards.settle(due, None)
        return True
    try:
        with client:
            if not known_stores.locale_of(due["business_id"]):
                known_stores.keep_locale(due["business_id"], client.business()["locale"])
            cards.settle(due, client.order(due["order_id"]))
    except PlatformError as error:
        if isinstance(error, ApiError) and error.status_code == 404:
            cards.settle(due, None)
        else:
            cards.wait(due, _pause(error))
    return True


def _pause(error: PlatformError) -> float:
    if isinstance(error, RateLimited):
        return error.retry_after or LATER
    is_of_the_store = isinstance(error, ApiError) and error.status_code < 500
    return MUCH_LATER if is_of_the_store else LATER

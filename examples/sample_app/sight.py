"""The person who looks. A browser sees the stores that it has shown to be its own, and no others.

It does so by an install that began in it, by an access token, or by the session token of the admin page. The browser's session,
which this app signs, keeps their installations.
"""

from urllib.parse import urlsplit

from flask import abort, request, session

from . import stores
from .stores import Store

SEEN = 20  # stores of one browser


def show(installation_id: str) -> None:
    """Let this browser see a store from now on."""
    others = [each for each in _seen() if each != installation_id]
    session["stores"] = [installation_id, *others][:SEEN]


def may_see(installation_id: str) -> bool:
    return installation_id in _seen()


def visible() -> list[Store]:
    """Every store that this browser may see, and what is left of those that were erased."""
    return [store for each in _seen() for store in stores.find("installation_id = ?", each)]


def visible_or_404(installation_id: str) -> Store:
    store = stores.of_installation(installation_id) if may_see(installation_id) else None
    return store or abort(404, "This browser sees no such store. It may have been erased.")


def is_same_origin() -> bool:
    """Whether a request came from a page of this app, by the browser's word."""
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    return urlsplit(request.headers.get("Origin", "")).netloc == request.host


def _seen() -> list[str]:
    found: list[str] = session.get("stores", [])
    return found

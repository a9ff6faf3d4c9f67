"""Installing the app on a store by OAuth. The framework's views call these functions."""

from collections.abc import Mapping

import environment
import known_stores
from extension_platform_sdk import OAuthClient, OAuthError, read_callback

COOKIE = "installing"  # HttpOnly: what this browser was sent away with

oauth = OAuthClient(
    environment.PLATFORM_URL,
    environment.CLIENT_ID,
    environment.CLIENT_SECRET,
    redirect_uri=environment.REDIRECT_URL,
)

used: set[str] = set()  # a browser may open the address again, and a second exchange of a code ends the token


def begin() -> tuple[str, str]:
    """The address of the consent page, and the value of the cookie."""
    begun = oauth.begin()
    return begun.url, f"{begun.state}.{begun.code_verifier}"


def finish(query: Mapping[str, str], cookie: str | None) -> str:
    """Exchange the code that the browser brought. Returns where the merchant goes next.

    Raises the SDK's `PlatformError`, such as `StateMismatch`. A merchant who pressed Install in the marketplace comes without
    a state, since the app began nothing.
    """
    state, _, verifier = (cookie or "").partition(".")
    began = "state" in query
    code = read_callback(query, state=state if began else None)
    if code in used:
        raise OAuthError("invalid_grant", "this address was opened before")
    used.add(code)
    installed = oauth.exchange(code, code_verifier=verifier if began else None)
    known_stores.keep(installed)  # before anything else: the code works once
    return f"/welcome?business={installed.business_id}"


def welcome(business_id: str) -> str | None:
    """The page that leads the merchant back to the dashboard; None for a store without the app."""
    address = known_stores.dashboard_of(business_id)
    page = (environment.FOLDER / "welcome.html").read_text(encoding="utf-8")
    return page.replace("$dashboard", address) if address else None

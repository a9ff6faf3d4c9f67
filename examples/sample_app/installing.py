"""Installing on a store by OAuth: from the press of **Install** to the connection, which may take its time."""

import hashlib
import logging
import time
from collections.abc import Mapping, Sequence
from threading import Thread

from extension_platform_sdk import (
    ApiError,
    OAuthError,
    PlatformError,
    RateLimited,
    StateMismatch,
    read_callback,
)
from flask import Flask, abort, current_app, session

from . import platform, stores
from .bell import bell
from .wording import explain

FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0  # seconds between attempts to connect

logger = logging.getLogger(__name__)


def begin() -> str:
    """The address of the consent page. The browser's session keeps what the answer has to bring back."""
    begun = (bell.oauth or abort(404)).begin()
    session["began"] = begun.state, begun.code_verifier
    return begun.url


def finish(query: Mapping[str, str]) -> tuple[str, bool]:
    """Exchange the code that a browser brought. Returns the installation's id, and whether the code was new.

    A merchant who pressed **Install** in the marketplace comes without a state, since nothing was begun here. Raises the SDK's
    ``PlatformError``: ``StateMismatch`` for an answer to another browser, ``OAuthError`` if the merchant or the platform said no.
    """
    oauth = bell.oauth or abort(404)
    began = "state" in query
    used = _digest(query.get("code", ""))
    # A browser may open the address again, and the platform takes a second use of a code for a theft.
    if known := bell.database.run("SELECT result FROM used WHERE key = ? AND result <> ''", used):
        return known[0]["result"], False
    state, verifier = session.pop("began", ("", "")) if began else (None, None)
    code = read_callback(query, state=state)
    if state and not bell.database.use_once(_digest(state)):
        raise StateMismatch("the state was used before")
    if not bell.database.use_once(used):
        raise OAuthError("invalid_grant", "The code was used before")
    installed = oauth.exchange(code, code_verifier=verifier)
    platform.keep(installed)
    bell.database.run("UPDATE used SET result = ? WHERE key = ?", installed.installation_id, used)
    try:
        platform.connect(installed.access_token, installed.webhook_secret)
    except PlatformError:  # the webhook and the store's name can wait
        connect_in_background(current_app._get_current_object(), [installed.access_token])  # type: ignore[attr-defined]  # noqa: SLF001
    return installed.installation_id, True


def connect_in_background(app: Flask, tokens: Sequence[str] = ()) -> None:
    """Connect the stores of these tokens, or else those that the app was started with and those whose webhooks lead elsewhere.

    Platform and app may start in any order, and an outage may follow an install.
    """
    with app.app_context():
        tokens = list(tokens) or _at_start()
        if tokens:
            bell.note = "Connecting to the platform…"
            Thread(target=_run, args=(app, tokens), daemon=True).start()


def _at_start() -> list[str]:
    known = stores.find("erased_at IS NULL AND ended_at IS NULL")
    tokens = {store.access_token for store in known}
    moved = [store.access_token for store in known if store.webhook_url != bell.webhook_url]
    return [token for token, _ in bell.config.stores if token not in tokens] + moved


def _run(app: Flask, tokens: list[str]) -> None:
    with app.app_context():
        problems = [_connect(token) for token in tokens]
        bell.note = " ".join(filter(None, problems))


def _connect(token: str) -> str:
    """Try until it succeeds or will never succeed. Returns the reason for the latter."""
    pause = FIRST_PAUSE
    while True:
        try:
            store = platform.connect(token, dict(bell.config.stores).get(token) or "")
        except PlatformError as error:
            bell.note = explain(error)
            logger.warning("A store was not connected: %s", bell.note)
            if _is_final(error):
                return bell.note
            time.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)
        else:
            logger.info("Connected to %s", store.name)
            return ""


def _is_final(error: PlatformError) -> bool:
    """An answer that will be the same next time."""
    if isinstance(error, ApiError):
        return not isinstance(error, RateLimited) and error.status_code < 500
    return isinstance(error, platform.SecretNeeded)


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()

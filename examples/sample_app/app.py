"""The parts, put together, and what all pages have in common."""

import mimetypes
import socket
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import waitress
from extension_platform_sdk import OAuthClient
from flask import Flask, Response, abort, render_template, request, send_file
from flask.typing import ResponseReturnValue
from werkzeug.exceptions import HTTPException

from . import bell_pay, frames, pages, wording
from .bell import NAME, OrderBell, bell
from .config import Config
from .database import Database
from .hooks import hooks
from .sight import is_same_origin
from .webhooks import blueprint as called
from .webhooks import webhooks

MAX_BODY = 1024 * 1024
STATIC = Path(__file__).parent / "static"
SDK_FOR_BROWSERS = Path(__file__).parents[2] / "sdk" / "js" / "extension-platform.js"

mimetypes.add_type("text/javascript", ".js")


def create_server(config: Config) -> tuple[Flask, Any]:
    """The app and its server, which listens on this machine alone. Raises ``OSError`` if the port is taken."""
    listening = socket.create_server(("127.0.0.1", config.port))
    app = create_app(config, config.public_url or f"http://localhost:{listening.getsockname()[1]}")
    return app, waitress.create_server(app, sockets=[listening], threads=8, ident="OrderBell")


def create_app(config: Config, public_url: str) -> Flask:
    """The app as browsers and the platform reach it at ``public_url``."""
    app = Flask(__name__)
    oauth = None
    if config.client_id:
        credentials = config.client_id, config.client_secret
        oauth = OAuthClient(config.platform_url, *credentials, redirect_uri=f"{public_url}/callback")
    database = Database(config.state_file)
    app.extensions[NAME] = OrderBell(config, public_url, database, webhooks, hooks, oauth)
    app.config.update(
        SECRET_KEY=database.run("SELECT value FROM secret_key")[0]["value"],
        SESSION_COOKIE_NAME=f"order_bell_{urlsplit(public_url).port or 443}",
        SESSION_COOKIE_SAMESITE="Lax",
        SESSION_COOKIE_SECURE=public_url.startswith("https:"),
        MAX_CONTENT_LENGTH=MAX_BODY,
        TRUSTED_HOSTS=[
            "localhost",
            "127.0.0.1",
            urlsplit(public_url).hostname,
        ],  # else DNS may lead others' pages here
    )
    for part in (called, pages.blueprint, frames.blueprint, bell_pay.blueprint):
        app.register_blueprint(part)
    app.add_url_rule("/static/extension-platform.js", "sdk", lambda: send_file(SDK_FOR_BROWSERS))
    app.add_url_rule("/embed/announcement.js", "script", lambda: send_file(STATIC / "announcement.js"))
    app.before_request(_refuse_other_sites)
    app.after_request(_protect)
    app.register_error_handler(HTTPException, _error_page)
    app.context_processor(lambda: {"bell": bell})
    for function in (
        wording.for_people,
        wording.minor_money,
        wording.money,
        wording.plain,
        wording.source,
        wording.summarize,
    ):
        app.add_template_filter(function)
    return app


def _refuse_other_sites() -> None:
    """A page of another site can't press buttons here with the browser's session (cross-site request forgery)."""
    if request.method == "POST" and request.blueprint != called.name and not is_same_origin():
        abort(403, "This form did not come from a page of the app.")


def _protect(response: Response) -> Response:
    """Everything comes from here, and only the platform and its stores frame some pages."""
    framed = request.blueprint == frames.blueprint.name
    by = f"{bell.platform_origin} {bell.config.stores_origin}" if framed else "'none'"
    response.headers["Content-Security-Policy"] = (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
        f"form-action 'self'; base-uri 'none'; frame-ancestors {by}"
    )
    response.headers["Referrer-Policy"] = "same-origin"
    response.headers["X-Content-Type-Options"] = "nosniff"
    if request.blueprint:  # not for files
        response.headers["Cache-Control"] = "no-store"
    return response


def _error_page(error: HTTPException) -> ResponseReturnValue:
    return render_template("error.html", error=error), error.code or 500

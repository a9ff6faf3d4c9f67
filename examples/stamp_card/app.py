"""The app's addresses. Its functions are in `handlers.py`."""

import json
from typing import Any

import cards
import database
import environment
import installing
import known_stores
import reading
import texts
from extension_platform_sdk import InvalidSession, PlatformError, read_storefront_token
from extension_platform_sdk.adapters.flask import view
from flask import Flask, redirect, request
from flask.typing import ResponseReturnValue
from handlers import hooks, webhooks

app = Flask(__name__, static_folder=None)
app.config["MAX_CONTENT_LENGTH"] = 1024 * 1024

database.prepare()
reading.start()

app.post("/webhooks")(view(webhooks, known_stores.secret_of))
app.post("/webhooks/hooks")(view(hooks, known_stores.secret_of))


@app.get("/")
def home() -> str:
    return '<h1>Stamp Card</h1><p><a href="/install">Install on a store</a></p>'


@app.get("/block")
def block() -> str:
    """Shows the rule alone, until the store's page sends its session token."""
    locale = request.args.get("locale", "")
    page = (environment.FOLDER / "block.html").read_text(encoding="utf-8")
    words = json.dumps(texts.of(locale)).replace("<", "\\u003c")
    return page.replace("$language", texts.language(locale)).replace("$texts", words)


@app.post("/card")
def card() -> ResponseReturnValue:
    """The card of the shopper whom the session token names; null for one who hasn't proven who they are."""
    try:
        session = read_storefront_token(
            request.get_data(as_text=True),
            client_id=environment.CLIENT_ID,
            secret=known_stores.secret_of_installation,
        )
    except InvalidSession as error:
        return {"message": f"{error}"}, 401
    known: Any = session.shopper and cards.card(session.business_id, session.shopper.key)
    return {"card": known}, 200, {"Cache-Control": "no-store"}


@app.get("/install")
def install() -> ResponseReturnValue:
    url, cookie = installing.begin()
    response = redirect(url)
    response.set_cookie(installing.COOKIE, cookie, max_age=3600, httponly=True, samesite="Lax")
    return response


@app.get("/callback")
def callback() -> ResponseReturnValue:
    try:
        address = installing.finish(request.args, request.cookies.get(installing.COOKIE))
    except PlatformError as error:
        return f"Not installed: {error}", 400, {"Content-Type": "text/plain; charset=utf-8"}
    response = redirect(address)
    response.delete_cookie(installing.COOKIE)
    return response


@app.get("/welcome")
def welcome() -> ResponseReturnValue:
    return installing.welcome(request.args.get("business", "")) or ("Not found", 404)

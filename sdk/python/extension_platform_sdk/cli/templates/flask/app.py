"""The app's addresses. Its functions are in `handlers.py`."""

import installing
from extension_platform_sdk import PlatformError
from extension_platform_sdk.adapters.flask import view
from flask import Flask, redirect, request
from flask.typing import ResponseReturnValue
from handlers import hooks, webhooks
from installations import secret_of

app = Flask(__name__, static_folder=None)

app.post("/webhooks")(view(webhooks, secret_of))
app.post("/webhooks/hooks")(view(hooks, secret_of))


@app.get("/")
def home() -> str:
    return '<h1>NAME</h1><p><a href="/install">Install on a store</a></p>'


@app.get("/block")
def block() -> str:
    with app.open_resource("block.html", "r", "utf-8") as page:
        return str(page.read())


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
        return f"Not installed: {error}", 400
    response = redirect(address)
    response.delete_cookie(installing.COOKIE)
    return response


@app.get("/welcome")
def welcome() -> ResponseReturnValue:
    return installing.welcome(request.args.get("business", "")) or ("Not found", 404)

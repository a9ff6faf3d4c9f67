"""The app's addresses. Its functions are in `handlers.py`."""

import installing
from config import FOLDER
from extension_platform_sdk import PlatformError
from extension_platform_sdk.adapters.fastapi import view
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from handlers import hooks, webhooks
from installations import secret_of

app = FastAPI(title="NAME")

app.post("/webhooks")(view(webhooks, secret_of))
app.post("/webhooks/hooks")(view(hooks, secret_of))


@app.get("/")
def home() -> HTMLResponse:
    return HTMLResponse('<h1>NAME</h1><p><a href="/install">Install on a store</a></p>')


@app.get("/block")
def block() -> HTMLResponse:
    return HTMLResponse((FOLDER / "block.html").read_text())


@app.get("/install")
def install() -> Response:
    url, cookie = installing.begin()
    response = RedirectResponse(url, 302)
    response.set_cookie(installing.COOKIE, cookie, max_age=3600, httponly=True, samesite="lax")
    return response


@app.get("/callback")
def callback(request: Request) -> Response:
    try:
        address = installing.finish(request.query_params, request.cookies.get(installing.COOKIE))
    except PlatformError as error:
        return PlainTextResponse(f"Not installed: {error}", 400)
    response = RedirectResponse(address, 302)
    response.delete_cookie(installing.COOKIE)
    return response


@app.get("/welcome")
def welcome(business: str = "") -> Response:
    page = installing.welcome(business)
    return HTMLResponse(page) if page else PlainTextResponse("Not found", 404)

"""The app's own pages: the stores that this browser may see, their webhooks as they arrive, and buttons."""

from collections.abc import Iterator
from contextlib import contextmanager

from extension_platform_sdk import ApiError, OAuthError, PlatformError, StateMismatch
from flask import Blueprint, flash, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from . import installing, platform, received, stores
from .bell import bell
from .manifest import manifest
from .sight import may_see, show, visible, visible_or_404
from .wording import explain, money

blueprint = Blueprint("pages", __name__)


@blueprint.get("/")
def home(status: int = 200) -> ResponseReturnValue:
    offered = stores.of_installation(session.get("offered", ""))
    return render_template("home.html", stores=visible(), offered=offered), status


@blueprint.get("/stores/<installation_id>")
def store(installation_id: str) -> ResponseReturnValue:
    """One store: its products, read while the page is made, and its webhooks."""
    shown, products, problem = visible_or_404(installation_id), None, ""
    if not shown.ended_at:
        try:
            products = platform.products(shown)
        except PlatformError as error:
            ended = isinstance(error, ApiError) and error.status_code == 401
            problem = "ended" if ended else explain(error)
    shown = visible_or_404(installation_id)
    return render_template(
        "store.html", store=shown, products=products, problem=problem, calls=received.newest([shown])
    )


@blueprint.get("/stores/<installation_id>/received")
def newer(installation_id: str) -> ResponseReturnValue:
    """The rows behind a number, for the page's script."""
    shown = visible_or_404(installation_id)
    calls = received.newest([shown], request.args.get("after", 0, type=int))
    return render_template("received.html", store=shown, calls=calls) if calls else ("", 204)


@blueprint.get("/received.json")
def received_json() -> ResponseReturnValue:
    return {"received": [received.as_json(call) for call in received.newest(visible())]}


@blueprint.get("/manifest.json")
def manifest_json() -> ResponseReturnValue:
    return manifest(bell.public_url)


@blueprint.get("/healthz")
def healthz() -> ResponseReturnValue:
    return {"status": "ok"}


@blueprint.get("/install")
def install() -> ResponseReturnValue:
    with _saying("The installation could not begin"):
        return redirect(installing.begin(), 303)
    return _to_home()


@blueprint.get("/callback")
def callback() -> ResponseReturnValue:
    """The Redirect URL: the browser comes back with a code or an error."""
    failed = "The store was not connected"
    try:
        installation_id, is_new = installing.finish(request.args)
    except StateMismatch:
        text = "This answer is not to an installation that was begun in this browser. Begin again."
        flash((failed, text), "bad")
        return home(400)
    except OAuthError as error:
        cancelled = error.error == "access_denied"
        flash(
            ("Nothing was installed" if cancelled else failed, explain(error)),
            "neutral" if cancelled else "bad",
        )
        return _to_home()
    except PlatformError as error:
        flash((failed, explain(error)), "bad")
        return _to_home()
    if is_new and "state" in request.args:
        show(installation_id)
        flash(("Order Bell is installed", "Orders of this store ring here."), "good")
    elif is_new:
        session["offered"] = installation_id
    return _to_store(installation_id) if may_see(installation_id) else _to_home()


@blueprint.post("/show")
def show_offered() -> ResponseReturnValue:
    """The answer to the question whether to show what was installed from the marketplace.

    Anyone can send a browser here with a code of their own store, so nothing is shown without that question.
    """
    installation_id = session.pop("offered", "")
    if installation_id:
        show(installation_id)
    return _to_store(installation_id)


@blueprint.post("/connect")
def connect() -> ResponseReturnValue:
    """By an access token, and perhaps the webhook secret of its installation."""
    failed, token = "The store was not connected", request.form.get("access_token", "").strip()
    if not (token.startswith("fbat_") and token.isascii() and token.isprintable() and " " not in token):
        flash((failed, "An access token is one word that begins with fbat_."), "bad")
        return _to_home()
    with _saying(failed):
        connected = platform.connect(token, request.form.get("webhook_secret", "").strip())
        show(connected.installation_id)
        flash((f"{connected.name} is connected", "Its webhooks appear here as they arrive."), "good")
        return _to_store(connected.installation_id)
    return _to_home()


@blueprint.post("/stores/<installation_id>/sample-order")
def sample_order(installation_id: str) -> ResponseReturnValue:
    shown = visible_or_404(installation_id)
    with _saying("No order was placed"):
        order = platform.place_sample_order(shown)
        amount = money(order.get("amount"), str(order.get("currency") or ""))
        text = f"{amount} in {shown.name}. Its order.created webhook arrives in a moment."
        flash((f"Order {order.get('orderNumber')} was placed", text), "good")
    return _to_store(installation_id)


@blueprint.post("/stores/<installation_id>/test-event")
def test_event(installation_id: str) -> ResponseReturnValue:
    shown = visible_or_404(installation_id)
    with _saying("No test event was sent"), platform.client(shown.access_token) as asked:
        result = asked.test_webhook(shown.webhook_id)
        if result.get("success"):
            text = f"This app answered {result.get('httpStatus')} within {result.get('durationMs')} ms."
            flash(("The test event arrived", text), "good")
        else:
            cause = result.get("httpStatus") or result.get("error")
            flash(("The test event did not arrive", f"The platform's reason: {cause}."), "bad")
    return _to_store(installation_id)


@blueprint.post("/stores/<installation_id>/disconnect")
def disconnect(installation_id: str) -> ResponseReturnValue:
    shown = visible_or_404(installation_id)
    with _saying("The store is still connected"):
        platform.disconnect(shown)
        if shown.by_oauth:
            text = "The platform tells this app when to delete what it keeps of the store."
            flash((f"Order Bell is uninstalled from {shown.name}", text), "good")
        else:
            flash((f"{shown.name} is disconnected", "Its webhook was deleted."), "good")
    return _to_home()


@contextmanager
def _saying(title: str) -> Iterator[None]:
    """The page that follows says what the platform had against it."""
    try:
        yield
    except PlatformError as error:
        flash((title, explain(error)), "bad")


def _to_home() -> ResponseReturnValue:
    return redirect(url_for(".home"), 303)


def _to_store(installation_id: str) -> ResponseReturnValue:
    return redirect(url_for(".store", installation_id=installation_id), 303)

"""What stores, shoppers and merchants ask this app for. The app's own pages are in ``server``."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from extension_platform_sdk import InvalidSession, PlatformError

from .answers import Answer, Request, data, html, refusal
from .bell_pay import NotPayableError
from .document import PAGE_HEADERS
from .frames import OVERVIEW, RECENT_ORDERS, RING_US, frame_headers, render_frame
from .guard import is_same_origin
from .pay_page import render_no_payment, render_payment
from .wording import explain

if TYPE_CHECKING:  # the app is handed to every route; it knows nothing of them
    from .app import App

Route = Callable[["App", Request], Answer]

logger = logging.getLogger(__name__)


def hook(app: App, request: Request) -> Answer:
    """``POST /webhooks/hooks``: the checkout asks."""
    response = app.hooks.answer(request.headers, request.body)
    if response.reason:
        logger.warning("A hook call was answered %s: %s", response.status, response.reason)
    elif response.call:
        logger.info("%s was answered", response.call.hook_point)
    return Answer(response.status, "application/json", response.body)


def recent_orders_frame(app: App, request: Request) -> Answer:
    """``GET /block/recent-orders``: the block."""
    return _frame(app, "Recent orders", "recent-orders.js", RECENT_ORDERS)


def recent_orders(app: App, request: Request) -> Answer:
    """``GET /block/recent-orders.json``: what the block shows; anybody may read it."""
    connection = app.connections.of_business(request.query.get("businessId", ""))
    if connection is None:
        return refusal(404, "This store is not connected to Order Bell.")
    return data({"orders": app.recent.of(connection)})


def ring_us_frame(app: App, request: Request) -> Answer:
    """``GET /widget/ring-us``: the widget."""
    return _frame(app, "Ring us", "ring-us.js", RING_US)


def ring(app: App, request: Request) -> Answer:
    """``POST /widget/rings``: a shopper pressed the bell."""
    business_id = _json_object(request.body).get("businessId")
    if not is_same_origin(request.headers):
        return refusal(403, "The bell is rung from its own page.")
    if not isinstance(business_id, str) or app.connections.of_business(business_id) is None:
        return refusal(404, "This store is not connected to Order Bell.")
    return data({"heard": app.rings.ring(business_id)})


def overview_frame(app: App, request: Request) -> Answer:
    """``GET /admin/overview``: the admin page. It is empty until its visitor is known."""
    return _frame(app, "Order Bell", "overview.js", OVERVIEW)


def admin_session(app: App, request: Request) -> Answer:
    """``POST /admin/session``: a session for the platform's session token, with the ``businessId`` that the page received."""
    business_id = str(_json_object(request.body).get("businessId", ""))
    try:
        return data({"session": app.visitors.let_in(request.bearer(), business_id)})
    except InvalidSession as error:
        return _unknown_visitor(error)


def overview(app: App, request: Request) -> Answer:
    """``GET /admin/overview.json``: one store's orders and webhooks, for a session of that store."""
    try:
        connection = app.visitors.store_of(request.bearer(), request.query.get("businessId", ""))
    except InvalidSession as error:
        return _unknown_visitor(error)
    return data(app.overview.of(connection))


def manifest(app: App, request: Request) -> Answer:
    """``GET /manifest.json``: what to save on the platform as this app's manifest."""
    body = json.dumps(app.manifest, indent=2, ensure_ascii=False).encode()
    return Answer(200, "application/json", body)


def payment(app: App, request: Request, problem: str = "", status: int = 200) -> Answer:
    """``GET /pay/<invoice>``: anyone who knows the invoice's id may see and pay it."""
    invoice = app.invoices.get(request.path.removeprefix("/pay/"))
    if invoice is None:
        return html(render_no_payment(), PAGE_HEADERS, 404)
    connection = app.connections.of_business(invoice.business_id)
    return html(render_payment(invoice, connection, problem), PAGE_HEADERS, status)


def settle(app: App, request: Request) -> Answer:
    """``POST /pay/<invoice>``: one of the page's two buttons, then back to the page."""
    ended = dict(parse_qsl(request.body.decode(errors="replace"))).get("status")
    if not is_same_origin(request.headers) or ended not in {"COMPLETED", "FAILED"}:
        return payment(app, request, "Press one of the buttons on this page.", 403)
    try:
        app.bell_pay.settle(request.path.removeprefix("/pay/"), ended)
    except NotPayableError as error:
        return payment(app, request, str(error), 409)
    except PlatformError as error:
        return payment(app, request, explain(error, app.platform.url), 502)
    return Answer(303, "", b"", {"Location": request.path, "Cache-Control": "no-store"})


ROUTES: dict[tuple[str, str], Route] = {
    ("POST", "/webhooks/hooks"): hook,
    ("GET", "/block/recent-orders"): recent_orders_frame,
    ("GET", "/block/recent-orders.json"): recent_orders,
    ("GET", "/widget/ring-us"): ring_us_frame,
    ("POST", "/widget/rings"): ring,
    ("GET", "/admin/overview"): overview_frame,
    ("POST", "/admin/session"): admin_session,
    ("GET", "/admin/overview.json"): overview,
    ("GET", "/manifest.json"): manifest,
    ("GET", "/pay/"): payment,
    ("POST", "/pay/"): settle,
}


def find_route(method: str, path: str) -> Route | None:
    """The route of an address, ``/pay/<invoice>`` included."""
    return ROUTES.get((method, "/pay/" if path.startswith("/pay/") else path))


def allowed_methods(path: str) -> list[str]:
    """What an address answers to; empty where there is none."""
    return [method for method in ("GET", "POST") if find_route(method, path)]


def _frame(app: App, title: str, script: str, main: str) -> Answer:
    origins = app.platform.origin, app.stores_origin
    return html(render_frame(title, script, main, *origins), frame_headers(*origins))


def _json_object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _unknown_visitor(error: InvalidSession) -> Answer:
    logger.warning("The admin page was refused: %s", error)
    return refusal(401, f"Not signed in: {error}.", {"WWW-Authenticate": "Bearer"})

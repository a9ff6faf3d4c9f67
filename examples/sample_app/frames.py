"""What the platform and its stores show in frames: a block, a widget and the admin page, and what their scripts ask for."""

import logging
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from extension_platform_sdk import InvalidSession, PlatformError, read_session_token
from flask import Blueprint, current_app, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature, URLSafeTimedSerializer

from . import platform, received, stores
from .bell import bell
from .database import now_text, time_text
from .hooks import rules_of
from .sight import show
from .stores import Store
from .wording import explain, shopper_texts

SESSION = 900  # seconds
MOST = 10  # rows of each list
SILENT_FOR = timedelta(
    seconds=2
)  # a store's bell after each ring: anyone can press it, and a script can press fast

blueprint = Blueprint("frames", __name__)
logger = logging.getLogger(__name__)


@blueprint.get("/block/recent-orders")
def recent_orders() -> str:
    return render_template("recent_orders.html", **_language())


@blueprint.get("/block/recent-orders.json")
def recent_orders_json() -> ResponseReturnValue:
    """Goods and times only, because anyone may read it: names, addresses and amounts of customers are private."""
    store = stores.of_business(request.args.get("businessId", ""))
    if store is None:
        return {"message": "This store is not connected to Order Bell."}, 404

    def read() -> list[Any]:
        with platform.client(store.access_token, timeout=5) as asked:
            orders = asked.orders(limit=20).data
        return [
            {
                "goods": [{"name": item["name"], "quantity": item["quantity"]} for item in order["items"]],
                "orderedAt": order["createdAt"],
            }
            for order in orders
            if order["status"] != "CANCELLED"
        ]

    return {"orders": bell.cache.get("orders", store.business_id, 10, read, [])}


@blueprint.get("/widget/ring-us")
def ring_us() -> str:
    return render_template("ring_us.html", **_language())


@blueprint.post("/widget/rings")
def ring() -> ResponseReturnValue:
    """A shopper pressed the bell."""
    business_id = _asked().get("businessId")
    if not isinstance(business_id, str) or stores.of_business(business_id) is None:
        return {"message": "This store is not connected to Order Bell."}, 404
    with bell.database.transaction() as connection:
        since = time_text(datetime.now(UTC) - SILENT_FOR)
        heard = connection.execute(
            "INSERT INTO rings SELECT ?, ? WHERE NOT EXISTS"
            " (SELECT * FROM rings WHERE business_id = ? AND rung_at > ?)",
            (business_id, now_text(), business_id, since),
        ).rowcount
    return {"heard": bool(heard)}


@blueprint.get("/admin/overview")
def overview() -> str:
    """The admin page. It is empty until its visitor is known."""
    return render_template("overview.html")


@blueprint.post("/admin/session")
def admin_session() -> ResponseReturnValue:
    """A session for the platform's session token, which lives for a minute. The page's script keeps it: cookies of frames are
    third-party cookies, which browsers block.

    The page received a ``businessId``, too. It gives no access, but a page with another one than the token's is forged.
    """
    _, _, token = request.headers.get("Authorization", "").partition(" ")
    try:
        if not bell.config.client_id:
            raise InvalidSession("this app was started without its Client ID")
        said = read_session_token(
            token, client_id=bell.config.client_id, secret=stores.secret_of_installation
        )
        store = stores.of_installation(said.installation_id)
        if store is None or {store.business_id, str(_asked().get("businessId"))} != {said.business_id}:
            raise InvalidSession("the token is of another store")
    except InvalidSession as error:
        return _unknown(str(error))
    return {"session": _signer().dumps(store.installation_id), "businessName": store.business_name}


@blueprint.get("/admin/overview/content")
def overview_content() -> ResponseReturnValue:
    """What the admin page shows: of the session's store, and of no other."""
    store = _store_of(request.headers.get("Authorization", "").partition(" ")[2])
    if store is None:
        return _unknown("this page was open for long, or the app was uninstalled. Reload it to go on")
    today, problem = None, ""
    try:
        today = _today(store)
    except PlatformError as error:
        problem = explain(error)
    rung = bell.database.run(
        "SELECT rung_at FROM rings WHERE business_id = ? ORDER BY rung_at DESC LIMIT ?",
        store.business_id,
        MOST,
    )
    calls = [call for call in received.newest([store]) if call["verified"]][:MOST]
    return render_template(
        "overview_content.html", store=store, today=today, problem=problem, calls=calls, rules=rules_of(store),
        rings=[row["rung_at"] for row in rung], session=request.headers["Authorization"].partition(" ")[2],
    )  # fmt: skip


@blueprint.post("/enter")
def enter() -> ResponseReturnValue:
    """From the admin page to the store's own page, in a tab."""
    store = _store_of(request.form.get("session", ""))
    if store is None:
        return _unknown("this page was open for long. Reload it to go on")
    show(store.installation_id)
    return redirect(url_for("pages.store", installation_id=store.installation_id), 303)


def _today(store: Store) -> Any:
    """The orders since midnight in the store's time zone."""
    name = bell.cache.get("zone", store.business_id, 60, lambda: platform.time_zone(store), "UTC")
    try:
        zone: Any = ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        zone = UTC
    start = datetime.now(zone).replace(hour=0, minute=0, second=0, microsecond=0)
    with platform.client(store.access_token, timeout=5) as asked:
        # The platform leaves out the very moment that createdAfter names.
        return asked.orders(limit=MOST, created_after=start - timedelta(milliseconds=1))


def _store_of(session: str) -> Store | None:
    try:
        store = stores.of_installation(_signer().loads(session, max_age=SESSION))
    except BadSignature:
        return None
    return store if store and not store.ended_at else None


def _signer() -> URLSafeTimedSerializer:
    return URLSafeTimedSerializer(str(current_app.secret_key), salt="admin page")


def _language() -> dict[str, Any]:
    """The store's, by which the page says everything but what the merchant wrote. English stays where it isn't spoken."""
    locale = request.args.get("locale", "")
    texts = shopper_texts(locale)
    return {"language": locale.partition("-")[0].lower() if texts else "en", "texts": texts}


def _asked() -> dict[str, Any]:
    """The JSON object of a body; empty for anything else."""
    found = request.get_json(force=True, silent=True)
    return found if isinstance(found, dict) else {}


def _unknown(reason: str) -> ResponseReturnValue:
    logger.warning("A visitor was refused: %s", reason)
    return {"message": f"Not signed in: {reason}."}, 401, {"WWW-Authenticate": "Bearer"}

"""The servers of all apps: receive webhooks, answer hooks, and fail a share of the webhooks."""

import asyncio
import contextlib
import json
import random
import threading
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import monotonic, time
from typing import Any, Self

from aiohttp import web

from tools.soak.ledger import FIRST

FAILING = 0.04  # of the webhooks are answered 500
# One app also keeps the platform waiting. It gets one request at a time then, and others must not notice.
LAME = 1
RESET = 0.02  # of its webhooks are hung up on
HANGING = 0.005  # get no answer in time
PAYABLE = timedelta(hours=24)
TOO_LONG = 11.0  # seconds; a delivery is given up after ten
# A share is answered 200 late, so that more deliveries are in flight at a fault. But not so late that the app counts as slow.
LATE = 0.5
LATE_BY = 0.2, 0.45  # seconds, at least and at most


def fee_of(subtotal: int) -> int:
    """What the shipping app answers for a subtotal; both in minor units."""
    return 100 + subtotal % 397


def discount_of(subtotal: int) -> int:
    return 1 + subtotal % 89


def hook_answer(point: str, data: dict[str, Any]) -> dict[str, Any]:
    match point:
        case "checkout.shipping_rates":
            return {"fee": fee_of(data["subtotal"])}
        case "order.calculate_discounts":
            return {"discount": discount_of(data["subtotal"])}
        case "checkout.payment_methods":
            return {"methods": [{"id": "wallet", "name": "Wallet"}]}
        case "checkout.create_payment":
            return {"invoiceId": data["orderId"], "expiresAt": (datetime.now(UTC) + PAYABLE).isoformat()}
    return {"valid": True}


@dataclass(frozen=True, slots=True)
class Arrival:
    """A webhook that is answered 2xx, as it came."""

    app: int
    delivery: str
    webhook: str
    business: str
    event: str
    timestamp: str
    signature: str
    body: bytes
    at: float  # of `time.monotonic`
    wall: float
    version: str = FIRST  # whose URL it came to


@dataclass(frozen=True, slots=True)
class HookCall:
    """A call of a hook, which is always answered."""

    app: int
    point: str
    business: str
    request_id: str
    timestamp: str
    signature: str
    body: bytes
    at: float
    wall: float
    version: str = FIRST


class Receiver:
    """A context manager. Arrivals are checked at the end, when all secrets are known."""

    def __init__(self, chance: random.Random) -> None:
        self.forget()
        self.is_kind = False  # answers everything well
        self.stores: Collection[str] | None = (
            None  # requests about others, such as those of checks, aren't kept
        )
        self._chance = chance
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._over: asyncio.Event
        self.url = ""

    def forget(self) -> None:
        """Leave out the requests of checks, which are made before the load begins."""
        self.arrivals: list[Arrival] = []
        self.hooks: list[HookCall] = []
        # Of each delivery, whatever the answer: when, the app, the body.
        self.first: dict[str, tuple[float, int, bytes]] = {}
        self.requests = 0

    def _is_kept(self, store: str) -> bool:
        return self.stores is None or store in self.stores

    async def _webhook(self, request: web.Request) -> web.StreamResponse:
        body, head, app = await request.read(), request.headers, int(request.match_info["app"])
        if not self._is_kept(head.get("X-Webhook-Business-Id", "")):
            return web.Response()
        self.requests += 1
        self.first.setdefault(head["X-Service-Event-Id"], (monotonic(), app, body))
        luck = 1.0 if self.is_kind else self._chance.random()
        if luck < FAILING:
            return web.Response(status=500)
        if luck < FAILING + RESET and app == LAME and request.transport:
            request.transport.abort()
            return web.Response(status=500)
        if luck < FAILING + RESET + HANGING and app == LAME:
            await asyncio.sleep(TOO_LONG)
            return web.Response(status=500)
        # Before the pause: an app has what it received, also if the sender is killed before it gets the answer.
        self.arrivals.append(
            Arrival(
                app=app,
                delivery=head["X-Service-Event-Id"],
                webhook=head["X-Webhook-Id"],
                business=head["X-Webhook-Business-Id"],
                event=head["X-Webhook-Event"],
                timestamp=head["X-Webhook-Timestamp"],
                signature=head["X-Webhook-Signature"],
                body=body,
                at=monotonic(),
                wall=time(),
                version=request.match_info.get("version", FIRST),
            )
        )
        if luck < FAILING + RESET + HANGING + LATE:
            await asyncio.sleep(self._chance.uniform(*LATE_BY))
        return web.Response()

    async def _hook(self, request: web.Request) -> web.StreamResponse:
        body, head = await request.read(), request.headers
        sent = json.loads(body)
        if not self._is_kept(sent["businessId"]):
            return web.json_response(hook_answer(sent["hookPoint"], sent["data"]))
        self.hooks.append(
            HookCall(
                app=int(request.match_info["app"]),
                point=sent["hookPoint"],
                business=sent["businessId"],
                request_id=head.get("X-Request-Id", ""),  # a check of the app's server has none
                timestamp=head["X-Webhook-Timestamp"],
                signature=head["X-Webhook-Signature"],
                body=body,
                at=monotonic(),
                wall=time(),
                version=request.match_info.get("version", FIRST),
            )
        )
        return web.json_response(hook_answer(sent["hookPoint"], sent["data"]))

    async def _serve(self) -> None:
        self._over = asyncio.Event()
        app = web.Application()
        app.router.add_post("/app/{app}", self._webhook)
        app.router.add_post("/app/{app}/hook", self._hook)
        app.router.add_post("/app/{app}/v{version}", self._webhook)
        app.router.add_post("/app/{app}/v{version}/hook", self._hook)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, backlog=512)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._over.wait()
        await runner.cleanup()

    def _run(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._serve())

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join(5)

"""The servers of all apps: receive webhooks, answer hooks, and fail a share of the webhooks."""

import asyncio
import contextlib
import random
import threading
from dataclasses import dataclass
from time import monotonic, time
from typing import Self

from aiohttp import web

FAILING = 0.04  # of the webhooks are answered 500
RESET = 0.02  # are hung up on
HANGING = 0.005  # get no answer in time
LATE = 0.5  # get their 200 late, so that more deliveries are in flight at a fault
LATE_BY = 0.2, 1.0  # seconds, at least and at most
TOO_LONG = 11.0  # seconds; a delivery is given up after ten
HOOKS = {"rates": {"fee": 300}, "discounts": {"discount": 50}, "validate": {"valid": True}}


@dataclass(frozen=True, slots=True)
class Arrival:
    """A webhook that is answered 2xx, as it came."""

    app: int
    delivery: str
    business: str
    event: str
    timestamp: str
    signature: str
    body: bytes
    at: float  # of `time.monotonic`
    wall: float


class Receiver:
    """A context manager. Arrivals are checked at the end, when all secrets are known."""

    def __init__(self, chance: random.Random) -> None:
        self.arrivals: list[Arrival] = []
        self.requests = self.hooks = 0
        self.is_kind = False  # answers everything well
        self._chance = chance
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._over: asyncio.Event
        self.url = ""

    async def _webhook(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.requests += 1
        luck = 1.0 if self.is_kind else self._chance.random()
        if luck < FAILING:
            return web.Response(status=500)
        if luck < FAILING + RESET and request.transport:
            request.transport.abort()
            return web.Response(status=500)
        if luck < FAILING + RESET + HANGING:
            await asyncio.sleep(TOO_LONG)
            return web.Response(status=500)
        # Before the pause: an app has what it received, also if the sender is killed before it gets the answer.
        head = request.headers
        self.arrivals.append(
            Arrival(
                app=int(request.match_info["app"]),
                delivery=head["X-Service-Event-Id"],
                business=head["X-Webhook-Business-Id"],
                event=head["X-Webhook-Event"],
                timestamp=head["X-Webhook-Timestamp"],
                signature=head["X-Webhook-Signature"],
                body=body,
                at=monotonic(),
                wall=time(),
            )
        )
        if luck < FAILING + RESET + HANGING + LATE:
            await asyncio.sleep(self._chance.uniform(*LATE_BY))
        return web.Response()

    async def _hook(self, request: web.Request) -> web.StreamResponse:
        await request.read()
        self.hooks += 1
        return web.json_response(HOOKS[request.match_info["hook"]])

    async def _serve(self) -> None:
        self._over = asyncio.Event()
        app = web.Application()
        app.router.add_post("/app/{app}", self._webhook)
        app.router.add_post("/app/{app}/{hook}", self._hook)
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

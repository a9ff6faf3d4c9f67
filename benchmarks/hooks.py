"""What a hook costs the buyer who waits for it."""

import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from statistics import median

import orjson
import requests
from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.models import Business
from benchmarks import shops
from benchmarks.dispatchers import is_postgres
from benchmarks.options import Options
from benchmarks.processes import Failed, cpu_of
from benchmarks.results import Goal, Row, milliseconds, paired
from common.ids import new_id
from extensions.hooks.calling import begin, compose, judged
from extensions.hooks.live import LiveHook, hooks_at
from extensions.hooks.skipped import flush
from extensions.models import Breaker, HookCall
from stores import hookpoints
from stores.hookpoints import HookPoint
from webhooks.messages.message import signature_headers

POINT = HookPoint.SHIPPING_RATES
DATA = {"deliveryMethod": "DELIVERY", "subtotal": 2500, "builtInFee": 400}


def hook(options: Options) -> Iterator[Row]:
    """One call after another, to a bare `requests` session that keeps its connection; then a whole question."""
    calls, rounds = (30, 3) if options.quick else (200, 7)
    business, installation, definition = shops.hooked(options.sink.url("fee"), POINT)
    (live,) = hooks_at(business, POINT)
    bare, ours = [], []
    with requests.Session() as session:
        session.trust_env = False
        for _ in range(rounds + 1):  # the first warms up
            bare.append(_each(calls, lambda: _bare(session, live, business)))
            ours.append(_each(calls, lambda: _call(live, business)))
    options.sink.arrivals()
    yield Row(
        "A hook call, to a bare keep-alive requests call",
        milliseconds(median(bare[1:])),
        milliseconds(median(ours[1:])),
        paired(ours[1:], bare[1:]),
        Goal(1.2, 0.9),
    )
    alone = shops.business()
    nobody, asked = [], []
    for _ in range(rounds):
        nobody.append(_each(calls, lambda: _ask(alone, 400)))
        asked.append(_each(calls, lambda: _ask(business, 350)))
    yield Row(
        "A question to one app: hooks read, called, recorded; to none",
        milliseconds(median(nobody)),
        milliseconds(median(asked)),
        paired(asked, nobody),
    )
    until = timezone.now() + timedelta(hours=1)
    Breaker.objects.create(
        installation=installation, definition=definition, failures=5, opened_times=1, open_until=until
    )
    nobody, skipped = [], []
    for _ in range(rounds):
        nobody.append(_processor(calls, lambda: _ask(alone, 400)))
        skipped.append(_processor(calls, lambda: _ask(business, 400)))
    yield Row(
        "CPU with PostgreSQL's of the same with the breaker open; to none",
        milliseconds(median(nobody)),
        milliseconds(median(skipped)),
        paired(skipped, nobody),
        Goal(1.5, 1.2),
    )
    flush()
    HookCall.objects.all().delete()


def _each(calls: int, act: Callable[[], None]) -> float:
    """Seconds per call."""
    began = time.perf_counter()
    for _ in range(calls):
        act()
    return (time.perf_counter() - began) / calls


def _processor(calls: int, act: Callable[[], None]) -> float:
    """Seconds of processor per call: of this process with the thread that writes behind it, and of their session in
    PostgreSQL where that is on this machine.
    """
    session = connection.connection.info.backend_pid
    sessions = [session] if is_postgres(session) else []
    began = time.process_time() + sum(map(cpu_of, sessions))
    for _ in range(calls):
        act()
    return (time.process_time() + sum(map(cpu_of, sessions)) - began) / calls


def _bare(session: requests.Session, live: LiveHook, business: Business) -> None:
    """The same bytes with the same signature; the answer is parsed, and believed."""
    envelope = {"hookPoint": POINT, "businessId": str(business.pk), "timestamp": "2026-11-20T12:00:00.000Z"}
    body = orjson.dumps(envelope | {"data": DATA})
    headers = {
        "User-Agent": settings.OUTGOING_USER_AGENT,
        "Content-Type": "application/json",
        **signature_headers(live.secret, str(new_id()), int(time.time()), body),
    }
    answer = session.post(live.url, headers=headers, data=body, timeout=5, allow_redirects=False)
    if answer.json()["fee"] != 350:
        raise Failed("The sink gave no fee.")


def _call(live: LiveHook, business: Business) -> None:
    now = timezone.now()
    request = compose(point=POINT, business_id=business.pk, data=DATA, secret=live.secret, now=now)
    exchange = begin(POINT, live.url, request, seconds=live.timeout).result()
    call = judged(POINT, live, exchange, seconds=live.timeout, called_at=now)
    if call.answer is None:
        raise Failed(f"The hook failed: {call.problem}")


def _ask(business: Business, expected: int) -> None:
    fee = hookpoints.ask_shipping_fee(
        business=business, delivery_method="DELIVERY", subtotal=2500, built_in_fee=400
    ).answer
    if fee != expected:
        raise Failed(f"The fee was {fee}, not {expected}.")

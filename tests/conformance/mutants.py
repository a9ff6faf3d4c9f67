# ruff: noqa: SLF001  a mutant changes what is private
"""The sample app with one mistake each, and the rules that each mistake breaks."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from extension_platform_sdk import MemorySeen, PlatformError, Response, WebhookEvent, WebhookRouter
from extension_platform_sdk.hooks import HookCall, HookResponse, HookRouter
from flask import Flask, abort, redirect, request
from flask import Response as Answer
from requests.auth import HTTPBasicAuth

from examples.sample_app import platform, stores
from examples.sample_app.bell import NAME, OrderBell

SIGNATURE, DELIVERY, EVENT = "x-webhook-signature", "x-service-event-id", "x-webhook-event"
ERASURE = "business.data_erasure"
KNOWN_FIELDS = {"orderId", "orderNumber", "amount", "deliveryFee", "deliveryMethod", "paymentMethod", "isGuest", "createdAt"}  # fmt: skip

Mutation = Callable[[Flask], None]
MUTANTS: dict[str, tuple[Mutation, set[str]]] = {}


def breaks(*rules: str) -> Callable[[Mutation], Mutation]:
    """The decorated function makes a mutant, of which a check must name exactly these rules."""

    def register(mutation: Mutation) -> Mutation:
        MUTANTS[mutation.__name__] = (mutation, set(rules))
        return mutation

    return register


def values(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def bell_of(app: Flask) -> OrderBell:
    found: OrderBell = app.extensions[NAME]
    return found


def webhooks_of(app: Flask) -> WebhookRouter:
    """Its router, which is shared by all apps of this process until one has a copy for changing it."""
    bell_of(app).webhooks = router = copy.copy(bell_of(app).webhooks)
    router._handlers = dict(router._handlers)
    return router


def hooks_of(app: Flask) -> HookRouter:
    bell_of(app).hooks = router = copy.copy(bell_of(app).hooks)
    router._handlers = dict(router._handlers)
    return router


def instead(app: Flask, when: Callable[[dict[str, str]], bool]) -> None:
    """Deliveries with such headers are not verified."""
    router = webhooks_of(app)
    verified = router.handle

    def handle(headers: Any, body: bytes, secret: Any) -> Response:
        if when(values(headers)):
            return router._dispatch(WebhookEvent.from_body(body, values(headers).get(DELIVERY)))
        return verified(headers, body, secret)

    router.handle = handle  # type: ignore[method-assign]


def refuse_events(app: Flask, bad: Callable[[WebhookEvent[Any]], bool], status: int) -> None:
    router = webhooks_of(app)
    dispatch = router._dispatch

    def judge(event: WebhookEvent[Any]) -> Response:
        return Response(status, b"{}", reason="no") if bad(event) else dispatch(event)

    router._dispatch = judge  # type: ignore[method-assign]


def change_answers(app: Flask, change: Callable[[Answer], None]) -> None:
    """The last that happens to what the app serves."""

    def changed(answer: Answer) -> Answer:
        change(answer)
        return answer

    app.after_request_funcs[None].insert(0, changed)


# Installing


@breaks("IN001")
def exchanges_no_code(app: Flask) -> None:
    oauth = bell_of(app).oauth
    assert oauth
    oauth._auth = HTTPBasicAuth("somebody", "else")


@breaks("IN002")
def fails_when_opened_twice(app: Flask) -> None:
    seen: set[str] = set()

    @app.before_request
    def once() -> None:
        if "code" in request.args:
            if request.full_path in seen:
                abort(500)
            seen.add(request.full_path)


@breaks("IN003")
def ignores_the_state(app: Flask) -> None:
    serve = app.wsgi_app

    def without_it(environ: dict[str, Any], start: Any) -> Iterable[bytes]:
        parts = environ["QUERY_STRING"].split("&")
        environ["QUERY_STRING"] = "&".join(part for part in parts if not part.startswith("state="))
        return serve(environ, start)

    app.wsgi_app = without_it  # type: ignore[method-assign]


@breaks("IN004")
def fails_when_cancelled(app: Flask) -> None:
    @app.before_request
    def strict() -> None:
        if "error" in request.args:
            raise KeyError("code")


@breaks()
def begins_with_a_state_of_its_own(app: Flask) -> None:
    """No mistake: the guide about OAuth recommends it for installs from the marketplace."""

    @app.before_request
    def begin() -> Any:
        return redirect("/install") if "code" in request.args and "state" not in request.args else None


# Webhooks


@breaks("WH002", "WH003", "WH004", "WH005", "WH006", "WH007", "LC003", "ER001")
def verifies_no_webhook(app: Flask) -> None:
    instead(app, lambda headers: True)


@breaks("WH004")
def lets_unsigned_webhooks_pass(app: Flask) -> None:
    instead(app, lambda headers: SIGNATURE not in headers)


@breaks("WH004")
def compares_the_beginning_of_a_signature(app: Flask) -> None:
    instead(app, lambda headers: len(headers.get(SIGNATURE, "x" * 99)) < 20)


@breaks("WH005", "WH006")
def ignores_the_timestamp(app: Flask) -> None:
    webhooks_of(app)._tolerance = 1e9


@breaks("WH006")
def accepts_the_future(app: Flask) -> None:
    router = webhooks_of(app)
    verified = router.handle

    def handle(headers: Any, body: bytes, secret: Any) -> Response:
        sent = int(values(headers).get("x-webhook-timestamp") or 0)
        return verified(headers, body, secret, now=max(sent, time.time()))

    router.handle = handle  # type: ignore[method-assign,assignment]


@breaks("WH008", "ER003")
def refuses_repeats(app: Flask) -> None:
    seen = bell_of(app).webhooks._seen
    refuse_events(app, lambda event: seen.seen(f"{event.webhook_id}/{event.delivery_id}"), 409)


@breaks("WH008")
def handles_repeats_twice(app: Flask) -> None:
    router = webhooks_of(app)
    router._seen = MemorySeen(0)

    def order_again(event: WebhookEvent[Any]) -> None:
        store = stores.of_business(event.business_id)
        if store is not None:
            with suppress(PlatformError):
                platform.place_sample_order(store)

    router._handlers["order.created"] = order_again


@breaks("WH009")
def fails_for_one_event(app: Flask) -> None:
    refuse_events(app, lambda event: event.event == "product.deleted", 500)


@breaks("WH010")
def refuses_unknown_events(app: Flask) -> None:
    refuse_events(app, lambda event: event.event.startswith("order.unheard"), 400)


@breaks("WH011")
def refuses_unknown_fields(app: Flask) -> None:
    refuse_events(
        app, lambda event: event.event == "order.created" and not event.data.keys() <= KNOWN_FIELDS, 422
    )


@breaks("WH012")
def expects_events_in_order(app: Flask) -> None:
    known: set[str] = set()

    def is_early(event: WebhookEvent[Any]) -> bool:
        order = event.data.get("orderId", "")
        if event.event == "order.created":
            known.add(order)
        return event.event in ("order.delivered", "order.status_changed") and order not in known

    refuse_events(app, is_early, 404)


# Hooks


@breaks("HK001", "TK001", "LC002")
def answers_a_hook_late(app: Flask) -> None:
    handlers = hooks_of(app)._handlers
    answer = handlers["order.validate"]

    def late(call: HookCall[Any]) -> Any:
        time.sleep(3.2)  # the manifest says 3
        return answer(call)

    handlers["order.validate"] = late


@breaks("HK002")
def answers_a_hook_in_words(app: Flask) -> None:
    hooks_of(app)._handlers["checkout.shipping_rates"] = lambda call: {"fee": "free"}


@breaks("HK003", "HK004", "HK005", "HK006", "LC003")
def verifies_no_hook(app: Flask) -> None:
    router = hooks_of(app)

    def handle(headers: Any, body: bytes, secret: Any) -> HookResponse:
        return router._answer(HookCall.from_body(body))

    router.handle = handle  # type: ignore[method-assign,assignment]


@breaks("HK005")
def ignores_the_timestamp_of_hooks(app: Flask) -> None:
    hooks_of(app)._tolerance = 1e9


# What browsers load


@breaks("FR001")
def forbids_frames(app: Flask) -> None:
    def deny(answer: Answer) -> None:
        answer.headers["X-Frame-Options"] = "DENY"
        del answer.headers["Content-Security-Policy"]

    change_answers(app, deny)


@breaks("FR002")
def serves_scripts_as_text(app: Flask) -> None:
    def as_text(answer: Answer) -> None:
        if answer.mimetype == "text/javascript":
            answer.mimetype = "text/plain"

    change_answers(app, as_text)


@breaks("FR003")
def believes_every_message(app: Flask) -> None:
    def believe(answer: Answer) -> None:
        if answer.mimetype == "text/javascript":
            answer.direct_passthrough = False
            text = answer.get_data(as_text=True)
            answer.set_data(text.replace("origin", "kind").replace(".source", ".kind"))

    change_answers(app, believe)


# Tokens, installs and erasures


@breaks("TK001")
def fails_without_a_token(app: Flask) -> None:
    handlers = hooks_of(app)._handlers

    def strict(answer: Any) -> Any:
        def ask_first(call: HookCall[Any]) -> Any:
            store = stores.of_business(call.business_id)
            assert store
            with platform.client(store.access_token) as asked:
                asked.installation()  # nothing is kept for when the platform says no
            return answer(call)

        return ask_first

    handlers.update({point: strict(answer) for point, answer in handlers.items()})


@breaks("LC002", "LC003", "ER002", "ER003", "ER004")
def keeps_the_first_secret(app: Flask) -> None:
    router, first = webhooks_of(app), []
    verified = router.handle

    def handle(headers: Any, body: bytes, secret: Any) -> Response:
        def kept(webhook_id: str) -> str | None:
            known = secret(webhook_id)
            if known:
                first.append(known)
            return first[0] if known else None

        return verified(headers, body, kept)

    router.handle = handle  # type: ignore[method-assign,assignment]


@breaks("ER001")
def erases_for_anybody(app: Flask) -> None:
    instead(app, lambda headers: headers.get(EVENT) == ERASURE)


@breaks("ER002", "ER003")
def fails_to_erase(app: Flask) -> None:
    refuse_events(app, lambda event: event.event == ERASURE, 500)


@breaks("ER004")
def fails_to_erase_a_customer(app: Flask) -> None:
    refuse_events(app, lambda event: event.event == "customer.data_erasure", 500)

# ruff: noqa: SLF001  a mutant changes what is private
"""The sample app with one mistake each, and the rules that each mistake breaks."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from extension_platform_sdk import PlatformError, Response, WebhookEvent
from extension_platform_sdk.hooks import HookCall, HookResponse
from requests.auth import HTTPBasicAuth

from examples.sample_app.answers import Answer
from examples.sample_app.app import App
from examples.sample_app.connections import Connection
from examples.sample_app.rules import Rules
from examples.sample_app.server import Handler, Server

SIGNATURE, DELIVERY, EVENT = "x-webhook-signature", "x-service-event-id", "x-webhook-event"
ERASURE = "business.data_erasure"
KNOWN_FIELDS = {"orderId", "orderNumber", "amount", "deliveryFee", "deliveryMethod", "paymentMethod", "isGuest", "createdAt"}  # fmt: skip

Mutation = Callable[[Server], None]
MUTANTS: dict[str, tuple[Mutation, set[str]]] = {}


def breaks(*rules: str) -> Callable[[Mutation], Mutation]:
    """The decorated function makes a mutant, of which a check must name exactly these rules."""

    def register(mutation: Mutation) -> Mutation:
        MUTANTS[mutation.__name__] = (mutation, set(rules))
        return mutation

    return register


def values(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


def receive_unverified(app: App, headers: Any, body: bytes) -> Response:
    return app.receiver._router._dispatch(WebhookEvent.from_body(body, values(headers).get(DELIVERY)))


def instead(app: App, when: Callable[[dict[str, str]], bool]) -> None:
    """Deliveries with such headers are not verified."""
    verified = app.receiver._router.handle

    def handle(headers: Any, body: bytes, secret: Any) -> Response:
        if when(values(headers)):
            return receive_unverified(app, headers, body)
        return verified(headers, body, secret)

    app.receiver._router.handle = handle  # type: ignore[method-assign]


def refuse_events(app: App, bad: Callable[[WebhookEvent[Any]], bool], status: int) -> None:
    dispatch = app.receiver._router._dispatch

    def judge(event: WebhookEvent[Any]) -> Response:
        return Response(status, b"{}", reason="no") if bad(event) else dispatch(event)

    app.receiver._router._dispatch = judge  # type: ignore[method-assign]


def handler_of(server: Server) -> type[Handler]:
    """The server's own class of handlers, for changing it."""
    server.RequestHandlerClass = type("Mutant", (server.RequestHandlerClass,), {})  # type: ignore[misc,assignment]
    return server.RequestHandlerClass  # type: ignore[return-value]


# Installing


@breaks("IN001")
def exchanges_no_code(server: Server) -> None:
    assert server.app.installing
    server.app.installing._oauth._auth = HTTPBasicAuth("somebody", "else")


@breaks("IN002")
def fails_when_opened_twice(server: Server) -> None:
    handler, seen = handler_of(server), set()
    get = handler._get

    def once(self: Handler, path: str) -> None:
        if "code=" in self.path and self.path in seen:
            self._refuse(500, "This code was used.")
            return
        seen.add(self.path)
        get(self, path)

    handler._get = once  # type: ignore[method-assign]


@breaks("IN003")
def ignores_the_state(server: Server) -> None:
    assert server.app.installing
    finish = server.app.installing.finish
    server.app.installing.finish = lambda query, state: finish(  # type: ignore[method-assign]
        {name: value for name, value in query.items() if name != "state"}, state=state
    )


@breaks("IN004")
def fails_when_cancelled(server: Server) -> None:
    handler = handler_of(server)
    get = handler._get

    def strict(self: Handler, path: str) -> None:
        if "error=" in self.path:
            raise KeyError("code")
        get(self, path)

    handler._get = strict  # type: ignore[method-assign]


@breaks()
def begins_with_a_state_of_its_own(server: Server) -> None:
    """No mistake: the guide about OAuth recommends it for installs from the marketplace."""
    handler = handler_of(server)
    get = handler._get

    def begin(self: Handler, path: str) -> None:
        if "code=" in self.path and "state=" not in self.path:
            self._redirect("/install")
        else:
            get(self, path)

    handler._get = begin  # type: ignore[method-assign]


# Webhooks


@breaks("WH002", "WH003", "WH004", "WH005", "WH006", "WH007", "LC003", "ER001")
def verifies_no_webhook(server: Server) -> None:
    instead(server.app, lambda headers: True)


@breaks("WH004")
def lets_unsigned_webhooks_pass(server: Server) -> None:
    instead(server.app, lambda headers: SIGNATURE not in headers)


@breaks("WH004")
def compares_the_beginning_of_a_signature(server: Server) -> None:
    instead(server.app, lambda headers: len(headers.get(SIGNATURE, "x" * 99)) < 20)


@breaks("WH005", "WH006")
def ignores_the_timestamp(server: Server) -> None:
    server.app.receiver._router._tolerance = 1e9


@breaks("WH006")
def accepts_the_future(server: Server) -> None:
    router = server.app.receiver._router
    verified = router.handle

    def handle(headers: Any, body: bytes, secret: Any) -> Response:
        sent = int(values(headers).get("x-webhook-timestamp") or 0)
        return verified(headers, body, secret, now=max(sent, time.time()))

    router.handle = handle  # type: ignore[method-assign,assignment]


@breaks("WH008", "ER003")
def refuses_repeats(server: Server) -> None:
    seen = server.app.receiver._router._seen
    refuse_events(server.app, lambda event: seen.seen(f"{event.webhook_id}/{event.delivery_id}"), 409)


@breaks("WH008")
def handles_repeats_twice(server: Server) -> None:
    app = server.app
    app.receiver._router._seen.seen = lambda key: False  # type: ignore[method-assign]

    def order_again(event: WebhookEvent[Any]) -> None:
        connection = app.connections.of_business(event.business_id)
        if connection is not None:
            with suppress(PlatformError):
                app.platform.place_sample_order(connection)

    app.receiver._router._handlers["order.created"] = order_again


@breaks("WH009")
def fails_for_one_event(server: Server) -> None:
    refuse_events(server.app, lambda event: event.event == "product.deleted", 500)


@breaks("WH010")
def refuses_unknown_events(server: Server) -> None:
    refuse_events(server.app, lambda event: event.event.startswith("order.unheard"), 400)


@breaks("WH011")
def refuses_unknown_fields(server: Server) -> None:
    refuse_events(
        server.app,
        lambda event: event.event == "order.created" and not event.data.keys() <= KNOWN_FIELDS,
        422,
    )


@breaks("WH012")
def expects_events_in_order(server: Server) -> None:
    known: set[str] = set()

    def is_early(event: WebhookEvent[Any]) -> bool:
        order = event.data.get("orderId", "")
        if event.event == "order.created":
            known.add(order)
        return event.event in ("order.delivered", "order.status_changed") and order not in known

    refuse_events(server.app, is_early, 404)


# Hooks


@breaks("HK001", "TK001", "LC002")
def answers_a_hook_late(server: Server) -> None:
    handlers = server.app.hooks._router._handlers
    answer = handlers["order.validate"]

    def late(call: HookCall[Any]) -> Any:
        time.sleep(3.2)  # the manifest says 3
        return answer(call)

    handlers["order.validate"] = late


@breaks("HK002")
def answers_a_hook_in_words(server: Server) -> None:
    server.app.hooks._router._handlers["checkout.shipping_rates"] = lambda call: {"fee": "free"}


@breaks("HK003", "HK004", "HK005", "HK006", "LC003")
def verifies_no_hook(server: Server) -> None:
    router = server.app.hooks._router

    def handle(headers: Any, body: bytes, secret: Any) -> HookResponse:
        return router._answer(HookCall.from_body(body))

    router.handle = handle  # type: ignore[method-assign,assignment]


@breaks("HK005")
def ignores_the_timestamp_of_hooks(server: Server) -> None:
    server.app.hooks._router._tolerance = 1e9


# What browsers load


@breaks("FR001")
def forbids_frames(server: Server) -> None:
    handler = handler_of(server)
    answer = handler._answer

    def deny(self: Handler, given: Answer) -> None:
        headers = {"X-Frame-Options": "DENY"}
        answer(self, Answer(given.status, given.content_type, given.body, headers))

    handler._answer = deny  # type: ignore[method-assign]


@breaks("FR002")
def serves_scripts_as_text(server: Server) -> None:
    handler = handler_of(server)

    def send(self: Handler, file: Any) -> None:
        self._send(200, "text/plain", file.read_bytes())

    handler._send_file = send  # type: ignore[method-assign]


@breaks("FR003")
def believes_every_message(server: Server) -> None:
    handler = handler_of(server)

    def send(self: Handler, file: Any) -> None:
        text = file.read_text().replace("origin", "kind").replace(".source", ".kind")
        self._send(200, "text/javascript", text.encode())

    handler._send_file = send  # type: ignore[method-assign]


# Tokens, installs and erasures


@breaks("TK001")
def fails_without_a_token(server: Server) -> None:
    platform = server.app.platform

    def strict(connection: Connection) -> Rules:
        return Rules.of(platform.settings(connection))  # nothing is kept for when the platform says no

    server.app.hooks._rulebook.of = strict  # type: ignore[method-assign]


@breaks("LC002", "LC003", "ER002", "ER003")
def keeps_the_first_secret(server: Server) -> None:
    connections, first = server.app.connections, []

    def secret_of(webhook_id: str) -> str | None:
        known = [each.webhook_secret for each in connections.all() if each.webhook_id == webhook_id]
        first.extend(known)
        return first[0] if known else None

    connections.secret_of = secret_of  # type: ignore[method-assign]


@breaks("ER001")
def erases_for_anybody(server: Server) -> None:
    instead(server.app, lambda headers: headers.get(EVENT) == ERASURE)


@breaks("ER002", "ER003")
def fails_to_erase(server: Server) -> None:
    refuse_events(server.app, lambda event: event.event == ERASURE, 500)

"""What the shop takes for its platform: it notes each call, passes it on to the platform, and disturbs it where a rule says so.

Each call goes through functions ``(call, forward) -> Reply | None``, the newest first: ``forward`` asks the next one, and the last
is the platform. None ends the connection without an answer.
"""

from __future__ import annotations

import hashlib
import json
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import requests

from .calls import Call, Record, Reply

POINTS = ("order.validate", "order.calculate_discounts", "checkout.shipping_rates")
NOT_PASSED = frozenset(
    ("host", "connection", "content-length", "transfer-encoding", "authorization", "expect")
)
NOT_RETURNED = frozenset(
    ("connection", "content-length", "content-encoding", "transfer-encoding", "server", "date")
)
UPSTREAM = 30.0  # seconds that the platform may take

Forward = Callable[[], "Reply | None"]
Between = Callable[[Call, Forward], "Reply | None"]


@dataclass(slots=True)
class Apps:
    """What the apps of the store say at the checkout. As it is made, nothing."""

    percent: int = 0
    """That they take off."""
    more: int = 0
    """Minor units that they add to the fee."""
    refusal: str = ""

    def answer(self, point: str, data: Record, neutral: Record) -> Record:
        if point == "order.calculate_discounts" and self.percent:
            return {
                "discount": int(data["subtotal"]) * self.percent // 100,
                "reason": f"{self.percent} % off",
            }
        if point == "checkout.shipping_rates" and self.more:
            return {"fee": int(data["builtInFee"]) + self.more}
        if point == "order.validate":
            return {"valid": not self.refusal, "reason": self.refusal or None, "allHeard": True}
        return neutral


@dataclass(slots=True)
class Door:
    """Listens on this machine. ``url`` is what the shop gets as the URL of its platform."""

    platform: str
    platform_key: str
    keys: set[str] = field(default_factory=set)
    """Those that the shop may call with."""
    port: int = 0
    calls: list[Call] = field(default_factory=list)
    apps: Apps = field(default_factory=Apps)
    reads_orders: bool = True
    """Whether the shop learns that an app reads orders."""
    placements: Record | None = None
    """What apps show on each page; None passes the question on."""
    _between: list[Between] = field(default_factory=list)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> Door:
        handler = type("DoorHandler", (_Handler,), {"door": self})
        self._server = _Server(("127.0.0.1", self.port), handler)
        self.port = self._server.server_port
        threading.Thread(target=self._server.serve_forever, name="door", daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()

    # For rules

    @contextmanager
    def between(self, function: Between) -> Iterator[None]:
        """Ask this function first about each call."""
        self._between.append(function)
        try:
            yield
        finally:
            self._between.remove(function)

    def since(self, mark: int) -> list[Call]:
        """The calls that came after this many."""
        return self.calls[mark:]

    def wait(self, is_so: Callable[[], bool], seconds: float) -> bool:
        """Wait until it is so, and return whether it became so. It is asked after each call and answer."""
        until = time.monotonic() + seconds
        with self._changed:
            while not is_so():
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(min(left, 0.5))
        return True

    def ask_platform(self, method: str, path: str, body: Any = None) -> Reply:
        """A call of the check itself, past the shop."""
        call = Call(method, path, "", {}, json.dumps(body).encode() if body is not None else b"")
        if body is not None:
            call.headers["content-type"] = "application/json"
        return self._forward(call)

    # Inside

    def answer(self, call: Call) -> Reply | None:
        with self._changed:
            self.calls.append(call)
            self._changed.notify_all()
        steps = [*self._standing(), *self._between]

        def ask(below: int) -> Reply | None:
            return steps[below - 1](call, lambda: ask(below - 1)) if below else self._forward(call)

        reply = ask(len(steps))
        with self._changed:
            call.reply = reply
            self._changed.notify_all()
        return reply

    def _standing(self) -> tuple[Between, ...]:
        return (self._wanted, self._hooks, self._placements, self._key)

    def _key(self, call: Call, forward: Forward) -> Reply | None:
        if call.path.startswith("/store-api") and call.key not in self.keys:
            return Reply.of(
                401,
                {"statusCode": 401, "message": "The key is wrong, or has ended.", "error": "Unauthorized"},
            )
        return forward()

    def _wanted(self, call: Call, forward: Forward) -> Reply | None:
        if (call.method, call.rest) != ("GET", "/wanted"):
            return forward()
        known = call.headers.pop("if-none-match", None)
        reply = forward()
        if reply is None or reply.status != 200:
            return reply
        record = reply.record | {"hookPoints": sorted({*POINTS, *reply.record.get("hookPoints", [])})}
        if not self.reads_orders:
            record |= {"orders": False, "ordersSince": None}
        if self.placements is not None:
            record["placements"] = True
        return _with_tag(record, known)

    def _hooks(self, call: Call, forward: Forward) -> Reply | None:
        reply = forward()
        if call.point not in POINTS or reply is None or reply.status != 200:
            return reply
        record = reply.record
        answer = self.apps.answer(call.point, call.body.get("data") or {}, record["answer"])
        amount = answer.get("discount", answer.get("fee"))
        part = {"appId": "0197b3a2-0000-7000-8000-00000000c4ec", "name": "Check", "outcome": "ANSWERED", "amount": amount,
                "reason": answer.get("reason")}  # fmt: skip
        return Reply.of(200, record | {"answer": answer, "parts": [part]})

    def _placements(self, call: Call, forward: Forward) -> Reply | None:
        is_asked = call.rest == "/placements" or call.path.startswith("/placements/")
        if self.placements is None or not is_asked:
            return forward()
        return _with_tag(self.placements, call.headers.get("if-none-match"))

    def _forward(self, call: Call) -> Reply:
        headers = {name: value for name, value in call.headers.items() if name not in NOT_PASSED}
        raw = call.raw
        if call.instead is not None:
            headers.pop("content-encoding", None)
            raw = json.dumps(call.instead).encode()
        if call.path.startswith("/store-api"):
            headers["authorization"] = f"Bearer {self.platform_key}"
        url = self.platform + call.path + (f"?{call.query}" if call.query else "")
        try:
            with requests.Session() as session:
                session.trust_env = False
                answer = session.request(
                    call.method,
                    url,
                    data=raw or None,
                    headers=headers,
                    timeout=UPSTREAM,
                    allow_redirects=False,
                )
        except requests.RequestException as error:
            return Reply.of(
                502, {"statusCode": 502, "message": f"The platform doesn't answer: {type(error).__name__}"}
            )
        returned = {name: value for name, value in answer.headers.items() if name.lower() not in NOT_RETURNED}
        call.answered = Reply(answer.status_code, answer.content, returned)
        return call.answered


def busy(call: Call, forward: Forward) -> Reply | None:
    """Answer pushes as a platform that has too much to do."""
    return Reply.of(503, {"statusCode": 503, "message": "Too much to do."}) if call.is_push else forward()


def _with_tag(record: Record, known: str | None) -> Reply:
    digest = hashlib.sha256(json.dumps(record, sort_keys=True).encode()).hexdigest()
    tag = f'"{digest[:32]}"'
    return Reply(304, headers={"ETag": tag}) if known == tag else Reply.of(200, record, ETag=tag)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A shop that is killed, or waits no longer, ends its connections."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    door: Door
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        path, _, query = self.path.partition("?")
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.door.answer(Call(self.command, path, query, headers, self._body()))
        if reply is None:
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        if reply.status not in (204, 304):
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = _answer  # noqa: N815 - names of the base class

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Rules say what matters."""

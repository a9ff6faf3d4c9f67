"""A platform that answers a harness as a test says, with test stores and listeners but nothing behind them."""

import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

STORE = {
    "id": "s-1",
    "businessId": "b-1",
    "storeUrl": "https://s-1.stores.example",
    "expiresAt": "2026-11-20T15:19:05.123Z",
    "installationId": "i-1",
    "accessToken": "fbat_test",
    "webhookSecret": "whsec_test_example",
    "webhookId": "w-1",
}
REQUEST = {
    "url": "https://app.example.com/webhooks",
    "headers": {"X-Webhook-Event": "order.created"},
    "body": "{}",
}
DELIVERY = REQUEST | {"id": "d-1", "lease": "d-1:1", "event": "order.created", "installationId": "i-1"}
HOOK_CALL = REQUEST | {"id": "h-1", "installationId": "i-1", "body": '{"hookPoint": "order.validate"}'}


@dataclass(frozen=True)
class Reply:
    status: int
    body: Any = None
    retry_after: int | None = None


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    body: Any
    at: float


def work(*, deliveries: list[Any] | None = None, calls: list[Any] | None = None) -> Reply:
    return Reply(200, {"deliveries": deliveries or [], "hookCalls": calls or [], "pauseMs": 0})


class FakePlatform:
    """A context manager. `replies` are those to come for a path's last part, before the usual one."""

    def __init__(self, apps: list[dict[str, Any]]) -> None:
        self.asked: list[Asked] = []
        self.replies: dict[str, list[Reply]] = defaultdict(list)
        self._apps, self._listeners = apps, 0
        platform, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            def _answer(self) -> None:
                text = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                path = self.path.partition("?")[0]
                asked = Asked(self.command, path, json.loads(text) if text else None, time.monotonic())
                with lock:
                    platform.asked.append(asked)
                    reply = platform.answer(asked)
                if reply.status == 200 and path.endswith("/work"):
                    time.sleep(0.05)
                body = b"" if reply.status == 204 else json.dumps(reply.body).encode()
                self.send_response(reply.status)
                self.send_header("Content-Length", str(len(body)))
                if reply.retry_after is not None:
                    self.send_header("Retry-After", str(reply.retry_after))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_POST = do_DELETE = _answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, asked: Asked) -> Reply:
        last = asked.path.rpartition("/")[2]
        if asked.method == "DELETE":
            return Reply(204)
        if self.replies[last]:
            return self.replies[last].pop(0)
        return self._usual()[last]()

    def to(self, last: str, method: str = "POST") -> list[Asked]:
        """The requests for paths with this end."""
        return [each for each in self.asked if each.method == method and each.path.endswith(f"/{last}")]

    def answers(self, kind: str) -> list[Any]:
        """What the listener reported of "deliveries" or "hookCalls"."""
        return [each for asked in self.to("answers") for each in asked.body.get(kind, [])]

    def _usual(self) -> dict[str, Callable[[], Reply]]:
        return {
            "apps": lambda: Reply(200, {"data": self._apps, "total": len(self._apps)}),
            "test-stores": lambda: Reply(201, STORE),
            "listener": self._attach,
            "work": work,
            "changes": lambda: Reply(200, {"steps": [{"problem": None, "events": [self._caused()]}]}),
            "install": lambda: Reply(201, STORE | {"accessToken": "fbat_again", "installationId": "i-2"}),
            "answers": lambda: Reply(200, {"recorded": 1}),
            "deliveries": lambda: Reply(200, {"data": [{"id": "d-1", "attempts": []}]}),
        }

    def _caused(self) -> Any:
        event = self.to("changes")[-1].body["event"]
        return {
            "event": event,
            "eventId": "e-1",
            "deliveries": [],
            "reason": None,
            "data": {"orderId": "o-1"},
        }

    def _attach(self) -> Reply:
        self._listeners += 1
        return Reply(201, {"listenerId": f"L{self._listeners}"})

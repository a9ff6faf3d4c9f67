"""A platform small enough to see through: it answers what the sample app asks, and signs deliveries by hand.

The signature is written out from the specification, with nothing of the SDK, so that both can't share a mistake.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import requests

from tests.sdk.authorization_server import AuthorizationServer, send

PRODUCTS = [
    {"id": "p-away", "name": "Winter tea", "price": 7.5, "isAvailable": False, "stock": 3},
    {"id": "p-empty", "name": "Green tea", "price": 6, "isAvailable": True, "stock": 0},
    {"id": "p-here", "name": "Black tea", "price": 12.25, "isAvailable": True, "stock": 4},
]


class RefusedError(Exception):
    """An error answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


class FakePlatform:
    """Installations by access token, registrations by id, and every call that came.

    `oauth` installs by OAuth; where `app_webhook_url` is set, with the app-defined webhook that leads there.
    """

    def __init__(self, port: int = 0) -> None:
        self.installations: dict[str, dict[str, Any]] = {}
        self.oauth = AuthorizationServer(tokens=self.installations)
        self.app_webhook_url = ""
        self.broken = False
        self.webhooks: dict[str, dict[str, Any]] = {}
        self.orders: list[dict[str, Any]] = []
        self.calls: list[str] = []
        self.idempotency_keys: list[str | None] = []
        self.products = PRODUCTS
        self.readable_business = True
        self.settings: dict[str, Any] = {}
        self.payments: list[dict[str, Any]] = []
        self.pages: dict[str, tuple[dict[str, str], bytes]] = {}  # headers and body by path
        self.orders_asked: list[dict[str, str]] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
        self._server.daemon_threads = True
        self._server.fake = self  # type: ignore[attr-defined]
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def install(self, name: str = "Sunny Bakery") -> str:
        """Install the app on a new store, and return the access token."""
        token = f"fbat_test_{uuid.uuid4().hex}"
        self.installations[token] = {
            "installationId": str(uuid.uuid4()),
            "businessId": str(uuid.uuid4()),
            "isTestInstall": True,
            "name": name,
        }
        return token

    def webhook_of(self, token: str) -> dict[str, Any]:
        """The one registration of an installation."""
        (webhook,) = (each for each in self.webhooks.values() if each["token"] == token)
        return webhook

    def deliver(
        self, webhook: dict[str, Any], event: str, data: dict[str, Any], **how: Any
    ) -> requests.Response:
        """Send an event as the service interface says ("Delivery format", "Signature").

        ``how`` bends it: ``age`` seconds, ``secret``, ``delivery_id``, ``without`` a header, ``tamper`` bytes.
        """
        business_id = self.installations[webhook["token"]]["businessId"]
        body = json.dumps(
            {
                "event": event,
                "timestamp": "2026-11-20T15:04:05.123Z",
                "webhookId": webhook["id"],
                "businessId": business_id,
                "data": data,
            }
        ).encode()
        timestamp = str(int(time.time()) - how.get("age", 0))
        key = how.get("secret", webhook["secret"]).encode()
        digest = hmac.new(key, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Service-Webhooks/1.0",
            "X-Webhook-Id": webhook["id"],
            "X-Webhook-Event": event,
            "X-Webhook-Signature": f"sha256={digest}",
            "X-Webhook-Timestamp": timestamp,
            "X-Service-Event-Id": how.get("delivery_id", str(uuid.uuid4())),
        }
        headers.pop(how.get("without", ""), None)
        return requests.post(webhook["url"], data=body + how.get("tamper", b""), headers=headers, timeout=5)

    def call_hook(
        self, app_url: str, token: str, point: str, data: dict[str, Any], **how: Any
    ) -> requests.Response:
        """Ask at a hook point as the service interface says ("Hook calls"). ``how`` is `secret` or `age`."""
        installation = self.installations[token]
        body = json.dumps(
            {
                "hookPoint": point,
                "businessId": installation["businessId"],
                "timestamp": "2026-11-20T15:04:05.123Z",
                "data": data,
            }
        ).encode()
        timestamp = str(int(time.time()) - how.get("age", 0))
        key = how.get("secret", installation["webhookSecret"]).encode()
        digest = hmac.new(key, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "X-Webhook-Signature": f"sha256={digest}",
            "X-Webhook-Timestamp": timestamp,
        }
        return requests.post(f"{app_url}/webhooks/hooks", data=body, headers=headers, timeout=5)

    def session_token(self, token: str, **claims: Any) -> str:
        """The person who looks at an admin page, as the contract's section 6 says: a JWT, written out by hand.

        ``claims`` bend it; ``secret`` and ``alg`` the signature.
        """
        installation = self.installations[token]
        secret = str(claims.pop("secret", installation["webhookSecret"]))
        header = {"alg": claims.pop("alg", "HS256"), "typ": "JWT"}
        said = {
            "aud": self.oauth.client_id,
            "sub": "user-1",
            "businessId": installation["businessId"],
            "installationId": installation["installationId"],
            "exp": int(time.time()) + 60,
            **claims,
        }
        signed = b".".join(_base64url(json.dumps(part).encode()) for part in (header, said))
        signature = hmac.new(secret.encode(), signed, hashlib.sha256).digest()
        return (signed + b"." + _base64url(signature)).decode()

    def answer(self, method: str, path: str, token: str, body: Any) -> tuple[int, Any]:
        """One call; raises ``RefusedError``."""
        installation = self.installations.get(token)
        if self.broken:
            raise RefusedError(503, "The database is away")
        if installation is None:
            raise RefusedError(401, "The access token is not valid")
        if path.startswith("/app-api/"):
            return self._app_api(method, path.removeprefix("/app-api/"), token, body)
        match (method, *path.strip("/").split("/")):
            case ("POST", "webhooks"):
                return self._register(token, body)
            case ("GET", "webhooks"):
                own = [_public(each) for each in self.webhooks.values() if each["token"] == token]
                return 200, {"data": own, "total": len(own), "page": 1, "limit": 50}
            case ("PATCH" | "DELETE" | "POST", "webhooks", webhook_id, *rest):
                return self._webhook(method, self.webhooks.get(webhook_id), token, rest, body)
        raise RefusedError(404, "Not found")

    def _app_api(self, method: str, path: str, token: str, body: Any) -> tuple[int, Any]:
        installation = self.installations[token]
        match (method, *path.split("/")):
            case ("GET", "installation"):
                public = {name: value for name, value in installation.items() if name != "webhookSecret"}
                return 200, public | {"settings": self.settings}
            case ("GET", "business"):
                return 200, self._business(installation)
            case ("GET", "products"):
                return 200, {"data": self.products, "total": len(self.products), "page": 1, "limit": 100}
            case ("GET", "orders"):
                own = [each for each in self.orders if each.get("token", token) == token]
                return 200, {"data": own, "total": len(own), "page": 1, "limit": 20}
            case ("POST", "orders"):
                return self._order(token, body)
            case ("PATCH", "orders", order_id, "payment"):
                return self._settle(order_id, body)
        raise RefusedError(404, "Not found")

    def _business(self, installation: dict[str, Any]) -> dict[str, Any]:
        if not self.readable_business:
            raise RefusedError(403, "This call needs the scope read_business")
        return {
            "name": installation.get("name", "Harbour Bakery"),
            "currency": "EUR",
            "timezone": "Pacific/Auckland",
            "storefrontUrl": f"{self.url}/store/harbour-bakery/",
        }

    def _order(self, token: str, body: Any) -> tuple[int, Any]:
        order = body | {"id": str(uuid.uuid4()), "orderNumber": "1042", "amount": 12.25, "currency": "EUR"}
        self.orders.append(order)
        webhook = self.webhook_of(token)
        data = {"orderId": order["id"], "orderNumber": "1042", "amount": 12.25}
        threading.Thread(target=self.deliver, args=(webhook, "order.created", data), daemon=True).start()
        return 201, order

    def _settle(self, order_id: str, body: Any) -> tuple[int, Any]:
        if order_id == "gone":
            raise RefusedError(409, "The payment has expired")
        self.payments.append({"orderId": order_id, **body})
        return 200, {"id": order_id}

    def _register(self, token: str, body: Any) -> tuple[int, Any]:
        if "forbidden" in body["url"]:
            raise RefusedError(400, "url leads to a private address")
        secret = "whsec_test_" + base64.b64encode(os.urandom(32)).decode()
        webhook = self._add_webhook(token, secret=secret, eventsWithoutScope=["product.created"], **body)
        return 201, webhook

    def _webhook(
        self, method: str, webhook: dict[str, Any] | None, token: str, rest: list[str], body: Any
    ) -> tuple[int, Any]:
        if webhook is None or webhook["token"] != token:
            raise RefusedError(404, "Webhook not found")
        if method == "DELETE":
            del self.webhooks[webhook["id"]]
            return 204, None
        if rest == ["test"]:
            answer = self.deliver(
                webhook, "webhook.test", {"message": "It works", "webhookId": webhook["id"]}
            )
            return 200, {
                "success": answer.ok,
                "httpStatus": answer.status_code,
                "durationMs": 7,
                "error": None,
            }
        webhook |= body
        return 200, _public(webhook)

    def answer_oauth(
        self, method: str, path: str, authorization: str, body: bytes
    ) -> tuple[int, dict[str, str], Any] | None:
        """The authorization server's answer; an install brings the app-defined webhook with it."""
        answer = self.oauth.answer(method, path, authorization, body, self.url)
        if answer and path == "/oauth/token" and answer[0] == 200:
            token = answer[2]["access_token"]
            installation_id = answer[2]["installationId"]
            existing = [each for each in self.webhooks.values() if each["installationId"] == installation_id]
            for webhook in existing:
                webhook["token"] = token
            if self.app_webhook_url and not existing:
                self._add_webhook(
                    token, url=self.app_webhook_url, secret=answer[2]["webhookSecret"], isAppDefined=True
                )
        return answer

    def _add_webhook(self, token: str, **fields: Any) -> dict[str, Any]:
        webhook = {
            "id": str(uuid.uuid4()),
            "token": token,
            "installationId": self.installations[token]["installationId"],
            "isActive": True,
            "isAppDefined": False,
            "eventsWithoutScope": [],
            **fields,
        }
        self.webhooks[webhook["id"]] = webhook
        return webhook


def _base64url(value: bytes) -> bytes:
    return base64.urlsafe_b64encode(value).rstrip(b"=")


def _public(webhook: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in webhook.items() if key != "secret"}


class _Handler(BaseHTTPRequestHandler):
    def _answer(self) -> None:
        fake: FakePlatform = self.server.fake  # type: ignore[attr-defined]
        path, _, query = self.path.partition("?")
        if self.command == "GET" and path == "/app-api/orders":
            fake.orders_asked.append(dict(parse_qsl(query)))
        if path in fake.pages:
            self._show(*fake.pages[path])
            return
        fake.calls.append(f"{self.command} {path}")
        if path == "/app-api/orders":
            fake.idempotency_keys.append(self.headers.get("Idempotency-Key"))
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        authorization = self.headers.get("Authorization", "")
        if answer := fake.answer_oauth(self.command, path, authorization, raw):
            send(self, answer)
            return
        body = json.loads(raw or b"null")
        token = authorization.removeprefix("Bearer ")
        try:
            status, record = fake.answer(self.command, path, token, body)
        except RefusedError as refusal:
            status, record = (
                refusal.status,
                {"statusCode": refusal.status, "message": refusal.message, "error": "No"},
            )
        self.send_response(status)
        self.end_headers()
        if record is not None:
            self.wfile.write(json.dumps(record).encode())

    def _show(self, headers: dict[str, str], body: bytes) -> None:
        self.send_response(200)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        pass

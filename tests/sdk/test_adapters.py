"""The adapters for web frameworks, by the vectors that all SDKs have to agree on."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import time
import types
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import fastapi
import flask
import pytest
import requests
import time_machine
from django.http import HttpResponse
from django.test import Client
from django.urls import path
from extension_platform_sdk import HookRouter, WebhookRouter, sign
from extension_platform_sdk.adapters import django as for_django
from extension_platform_sdk.adapters import fastapi as for_fastapi
from extension_platform_sdk.adapters import flask as for_flask

from tests.sdk.node_tools import COMPILER, node_version

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text())
SERVER = Path(__file__).parent / "node" / "server.js"
# `npm install --prefix build/node express@5`
EXPRESS = COMPILER.parent.parent / "express"
README = Path(__file__).resolve().parents[2] / "README.md"
NOW = int(VECTORS["timestamp"])
OF_A_DELIVERY = {"Content-Type": "application/json", "X-Webhook-Id": "w", "X-Webhook-Business-Id": "b"}

Post = Callable[..., tuple[int, Any]]
"""Path, body, headers, the time and the secret; gives status and body of the response."""


class Routers:
    """What an app answers with, and the secret that it has for now."""

    def __init__(self) -> None:
        self.secret = ""
        self.webhooks = WebhookRouter()
        self.webhooks.on("order.created")(lambda event: None)
        self.hooks = HookRouter()
        self.hooks.on("order.validate")(lambda call: {"valid": True})

    def find(self, business_id: str) -> str:
        return self.secret


def in_flask(routers: Routers) -> Callable[..., tuple[int, Any]]:
    app = flask.Flask(__name__)
    app.post("/webhooks")(for_flask.view(routers.webhooks, routers.find))
    app.post("/hooks")(for_flask.view(routers.hooks, routers.find))

    def post(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        response = app.test_client().post(url, data=body, headers=headers)
        return response.status_code, response.json

    return post


def in_fastapi(routers: Routers) -> Callable[..., tuple[int, Any]]:
    app = fastapi.FastAPI()
    app.post("/webhooks")(for_fastapi.view(routers.webhooks, routers.find))
    app.post("/hooks")(for_fastapi.view(routers.hooks, routers.find))

    def post(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        sent: list[dict[str, Any]] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": url, "query_string": b"", "headers": [
            (name.lower().encode(), value.encode()) for name, value in headers.items()
        ]}  # fmt: skip
        asyncio.run(app(scope, receive, send))
        return sent[0]["status"], json.loads(b"".join(each.get("body", b"") for each in sent[1:]))

    return post


def in_django(routers: Routers, settings: Any) -> Callable[..., tuple[int, Any]]:
    urls = types.ModuleType("urls_of_an_app")
    urls.urlpatterns = [  # type: ignore[attr-defined]
        path("webhooks", for_django.view(routers.webhooks, routers.find)),
        path("hooks", for_django.view(routers.hooks, routers.find)),
        path("form", lambda request: HttpResponse()),
    ]
    settings.ROOT_URLCONF = urls
    settings.MIDDLEWARE = ["django.middleware.csrf.CsrfViewMiddleware"]
    client = Client(enforce_csrf_checks=True)
    assert client.post("/form").status_code == 403, "the app protects its forms"

    def post(url: str, body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
        response = client.post(url, body, content_type="application/json", headers=headers)
        return response.status_code, response.json()

    return post


def in_python(framework: str, settings: Any) -> Post:
    routers = Routers()
    if framework == "django":
        send = in_django(routers, settings)
    else:
        send = {"flask": in_flask, "fastapi": in_fastapi}[framework](routers)

    def at(url: str, body: bytes, headers: dict[str, str], now: int, secret: str) -> tuple[int, Any]:
        routers.secret = secret
        with time_machine.travel(now, tick=False):
            return send(url, body, headers)

    return at


def in_node(*, express: bool) -> Iterator[Post]:
    if node_version() < 20:
        pytest.skip("needs Node 20 or newer")
    if express and not EXPRESS.exists():
        pytest.skip("needs Express in build/node")
    folder = [str(EXPRESS)] if express else []
    with subprocess.Popen(["node", SERVER, *folder], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        address = f"http://127.0.0.1:{process.stdout.readline().strip()}"

        def at(url: str, body: bytes, headers: dict[str, str], now: int, secret: str) -> tuple[int, Any]:
            query = urlencode({"now": now, "secret": secret})
            response = requests.post(f"{address}{url}?{query}", data=body, headers=headers, timeout=10)
            return response.status_code, response.json()

        try:
            yield at
        finally:
            process.kill()


@pytest.mark.long
@pytest.mark.parametrize("url", ["/webhooks", "/hooks"])
def test_body_that_a_parser_of_express_read_before(url: str) -> None:
    content = {
        "event": "order.created",
        "webhookId": "w",
        "hookPoint": "order.validate",
        "data": {"a": "Grüße"},
    }
    body = json.dumps(content | {"businessId": "b", "timestamp": "2026-11-20T15:04:05.123Z"}).encode()
    for post in in_node(express=True):
        send = partial(post, body=body, headers=signed(body), now=NOW, secret=VECTORS["secret"])
        assert send(f"/text{url}")[0] == 200
        assert send(f"/raw{url}")[0] == 200
        status, answer = send(f"/json{url}")
        assert (status, answer["message"]) == (
            500,
            "the body was parsed before; mount this route before express.json()",
        )


def signed(body: bytes) -> dict[str, str]:
    signature = sign(secret=VECTORS["secret"], timestamp=NOW, body=body)
    return OF_A_DELIVERY | {"X-Webhook-Timestamp": str(NOW), "X-Webhook-Signature": signature}


@pytest.fixture(params=["flask", "fastapi", "django", "node", "express"])
def post(request: pytest.FixtureRequest, settings: Any) -> Iterator[Post]:
    """Sends a request to an app in each framework."""
    if request.param in ("node", "express"):
        yield from in_node(express=request.param == "express")
    else:
        yield in_python(request.param, settings)


def test_adapter_answers_as_the_vectors_say(post: Post) -> None:
    """A vector whose signature is right gets 400, since its body isn't an event."""
    for vector in VECTORS["calls"]:
        given = VECTORS | {"now": NOW} | vector["change"]
        names = {"X-Webhook-Timestamp": given["timestamp"], "X-Webhook-Signature": given["signature"]}
        headers = {name: value for name, value in names.items() if value is not None} | OF_A_DELIVERY
        status, body = post("/webhooks", given["body"].encode(), headers, given["now"], given["secret"])
        assert status == (401 if vector["refused"] else 400), vector["name"]
        assert (vector["refused"] or "") in body["message"], vector["name"]


@pytest.mark.parametrize(
    ("url", "content"),
    [
        ("/webhooks", {"event": "order.created", "webhookId": "w", "data": {"orderNumber": "Grüße"}}),
        ("/hooks", {"hookPoint": "order.validate", "data": {"items": []}}),
    ],
)
def test_adapter_hands_on_what_is_signed_and_refuses_the_rest(post: Post, url: str, content: Any) -> None:
    body = json.dumps({"businessId": "b", "timestamp": "2026-11-20T15:04:05.123Z", **content}).encode()
    secret = VECTORS["secret"]
    headers = signed(body)
    status, answer = post(url, body, headers, NOW, secret)
    assert status == 200
    assert url == "/webhooks" or answer == {"valid": True}
    assert post(url, body + b" ", headers, NOW, secret)[0] == 401
    assert post(url, body, headers, NOW + 301, secret)[0] == 401
    assert post(url, body, headers, NOW, "whsec_other")[0] == 401


def test_app_of_the_readme_answers() -> None:
    source, *_ = re.findall(r"^```python\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    module: dict[str, Any] = {"__name__": "readme"}
    exec(source, module)  # noqa: S102
    envelope = {
        "hookPoint": "order.calculate_discounts",
        "businessId": "b",
        "timestamp": "2026-11-20T15:00:00Z",
    }
    body = json.dumps(envelope | {"data": {"subtotal": 2500}})
    now = int(time.time())
    headers = {
        "X-Webhook-Timestamp": str(now),
        "X-Webhook-Signature": sign(secret="whsec_…", timestamp=now, body=body.encode()),
    }
    answered = module["app"].test_client().post("/webhooks/hooks", data=body, headers=headers)
    assert answered.json == {"discount": 250, "reason": "10% off"}

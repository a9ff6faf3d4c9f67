"""The published libraries of Standard Webhooks, for Python and for Node, verify what we really send."""

import json
import subprocess
from typing import Any

import pytest
import standardwebhooks

from accounts.models import Business
from common.secrets import standard_webhooks_secret
from stores import hookpoints
from tests.hooking import Hooking
from tests.receivers import ReceivedRequest, Receiver
from tests.sdk.node_tools import MODULES, needs_module
from tests.webhooks.helpers import drain, publish
from webhooks.models import Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]
SPEC = "Contract 5 Webhooks"

PROGRAM = """
const { Webhook } = require("standardwebhooks");
const { secret, requests } = JSON.parse(require("node:fs").readFileSync(0));
for (const { headers, body } of requests) {
  try {
    console.log(JSON.stringify(new Webhook(secret).verify(body, headers)));
  } catch (error) {
    console.log(error.constructor.name);
  }
}
"""


@pytest.fixture
def delivery(webhook: Webhook, receiver: Receiver, sandbox: Business) -> tuple[ReceivedRequest, str]:
    publish(sandbox)
    drain()
    (request,) = receiver.wait_for(1)
    return request, webhook.secret


@pytest.fixture
def hook_call(hooking: Hooking, shop: Business) -> tuple[ReceivedRequest, str]:
    app = hooking("checkout.shipping_rates", {"fee": 1})
    asked: dict[str, Any] = {"delivery_method": "DELIVERY", "subtotal": 2000, "built_in_fee": 350}
    assert hookpoints.ask_shipping_fee(business=shop, **asked).answer == 1
    (request,) = app.receiver.requests
    return request, app.installation.webhook_secret


@pytest.fixture(params=["delivery", "hook_call"])
def sent(request: pytest.FixtureRequest) -> tuple[ReceivedRequest, str]:
    found: tuple[ReceivedRequest, str] = request.getfixturevalue(request.param)
    return found


@pytest.mark.spec(SPEC, "Deliveries and hook calls are verified by the published Standard Webhooks libraries")
def test_library_for_python_verifies(sent: tuple[ReceivedRequest, str]) -> None:
    request, secret = sent
    library = standardwebhooks.Webhook(standard_webhooks_secret(secret))
    assert library.verify(request.body, dict(request.headers)) == json.loads(request.body)
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        library.verify(request.body + b" ", dict(request.headers))


@needs_module("standardwebhooks")
@pytest.mark.spec(SPEC, "Deliveries and hook calls are verified by the published Standard Webhooks libraries")
def test_library_for_node_verifies(sent: tuple[ReceivedRequest, str]) -> None:
    request, secret = sent
    headers, body = dict(request.headers), request.body.decode()
    given = [
        {"headers": headers, "body": body},
        {"headers": headers, "body": body + " "},
        {"headers": headers | {"webhook-id": "other"}, "body": body},
    ]
    done = subprocess.run(
        ["node", "-e", PROGRAM],
        input=json.dumps({"secret": standard_webhooks_secret(secret), "requests": given}),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=MODULES.parent,
    )
    first, *others = done.stdout.splitlines()
    assert json.loads(first) == json.loads(body)
    assert others == ["WebhookVerificationError"] * 2

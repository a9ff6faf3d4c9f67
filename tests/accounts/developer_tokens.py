"""Developer tokens, and the device flow that gets one."""

import re
from typing import Any
from urllib.parse import urlencode

from django.test import Client

from tests.accounts.api import post

GRANT_TYPE = "urn:ietf:params:oauth:grant-type:device_code"


def create(page: Client, name: str = "CI", days: int = 30) -> str:
    answer = page.post("/accounts/tokens/", {"name": name, "days": days})
    assert "no-store" in answer["Cache-Control"]
    return re.findall(r"fbdt_[\w-]{40,}", answer.content.decode())[0]


def apps(token: str) -> Any:
    return Client().get("/developer/apps", headers={"Authorization": f"Bearer {token}"})


def start(**body: str) -> dict[str, Any]:
    answer = post(Client(), "/developer/device", body)
    assert (answer.status_code, answer["Cache-Control"]) == (200, "no-store")
    return answer.json()


def redeem(codes: dict[str, Any]) -> Any:
    """As programs send it: a form, as RFC 8628 has it."""
    form = {"grant_type": GRANT_TYPE, "device_code": codes["device_code"], "client_id": "anything"}
    kind = "application/x-www-form-urlencoded"
    return Client().post("/developer/device/token", urlencode(form), content_type=kind)


def refusal(answer: Any) -> str:
    body = answer.json()
    assert (answer.status_code, body.keys()) == (400, {"error", "error_description"})
    return str(body["error"])

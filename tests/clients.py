"""Clients of the three APIs."""

from collections.abc import Callable
from typing import Any

from django.test import Client

from accounts.models import User
from accounts.services.shops import Connected
from accounts.sign_in import tokens
from installations.models import Installation
from tests import documented


def client_of(installation: Installation) -> Client:
    return Client(headers={"Authorization": f"Bearer {installation.raw_token}"})


def shop_client(connected: Connected) -> Client:
    """A shop system's."""
    return Client(headers={"authorization": f"Bearer {connected.key}"})


Api = Callable[..., Any]


def api_of(user: User, token: str = "") -> Api:
    """`api("post", "/developer/apps", {...})`: JSON as this person, the response with its `json()`, which must fit
    the OpenAPI document."""
    client = Client(headers={"authorization": f"Bearer {token or tokens.issue(user).access}"})

    def call(method: str, path: str, body: Any = None, **options: Any) -> Any:
        if body is not None:
            options |= {"data": body, "content_type": "application/json"}
        response = getattr(client, method)(path, **options)
        documented.validate(method, path, response)
        return response

    return call


BODY: dict[str, Any] = {
    "name": "Loyalty Stars",
    "slug": "loyalty-stars",
    "description": "Stars for regulars.",
    "category": "loyalty",
    "scopes": ["read_orders", "read_products"],
    "redirectUrl": "https://stars.example.com/callback",
}

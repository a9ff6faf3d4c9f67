"""The log of the main flow: JSON lines with a request id, without secrets and personal data."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings as of_a_server
from django.test import Client
from django.utils.module_loading import import_string

from accounts.models import Business, User
from common.tracing import LogFilter
from tests import factories
from tests.factories import PASSWORD
from tests.installations import oauth_client
from tests.receivers import Receiver
from tests.webhooks.helpers import drain

NAME, ADDRESS, PHONE, STREET = "Zelda Quimby", "zelda@example.org", "+7 701 555 0199", "17 Sesame Alley"
NEW_PERSON = "new.person@example.net"


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """What a server writes, and all that our own code and Django log for debugging besides."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    wanted = dict(of_a_server.LOGGING["formatters"]["json"])
    made = import_string(wanted.pop("()"))
    handler.setFormatter(made(**wanted))
    handler.addFilter(LogFilter())
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    quiet = logging.getLogger("django.db.backends")
    quiet.setLevel(logging.INFO)  # statements, which only DEBUG logs
    yield stream
    root.removeHandler(handler)
    root.setLevel(before)
    quiet.setLevel(logging.NOTSET)


def order(token: str, product: Any) -> Any:
    body = {
        "items": [{"productId": str(product.pk), "quantity": 1}],
        "customer": {"name": NAME, "email": ADDRESS, "phone": PHONE},
        "deliveryMethod": "DELIVERY",
        "address": STREET,
        "paymentMethod": "CASH",
        "note": "Ring for Zelda",
    }
    headers = {"Authorization": f"Bearer {token}"}
    return Client().post("/app-api/orders", body, content_type="application/json", headers=headers)


@pytest.mark.long
@pytest.mark.django_db
@pytest.mark.timed
def test_log_of_the_main_flow_has_no_secret_and_nothing_of_a_person(
    logged: io.StringIO, dana: User, mira: User, shop: Business, settings: Any
) -> None:
    settings.ALLOW_LOCAL_DESTINATIONS = True
    settings.DEBUG = True  # for a receiver without TLS
    with Receiver() as receiver:
        receiver.respond_with(500)
        app = factories.app(dana, client_secret=oauth_client.SECRET)
        factories.approve(app, webhook_url=f"{receiver.url}hooks")
        body = {"email": NEW_PERSON, "password": "a long walk home", "name": NAME, "role": "DEVELOPER"}
        Client().post("/auth/register", body, content_type="application/json")
        Client().post("/accounts/login/", {"email": mira.email, "password": "wrong wrong wrong"})
        Client().post("/accounts/login/", {"email": mira.email, "password": PASSWORD})
        Client().post("/accounts/password/reset/", {"email": mira.email})
        pair = (
            Client()
            .post("/auth/login", {"email": dana.email, "password": PASSWORD}, content_type="application/json")
            .json()
        )
        Client().get("/developer/apps", headers={"Authorization": f"Bearer {pair['accessToken']}"})
        code = oauth_client.code_for(mira, app)
        issued = oauth_client.exchange(app, code).json()
        token = issued["access_token"]
        registered = Client().post(
            "/webhooks",
            {"url": f"{receiver.url}own?key=in-the-query", "events": ["order.created"]},
            content_type="application/json",
            headers={"Authorization": f"Bearer {token}"},
        )
        listener = registered.json()["secret"]
        assert order(token, factories.product(shop)).status_code == 201
        assert drain()
        assert order("fbat_not_a_token", factories.product(shop)).status_code == 401
        logging.getLogger("stores").warning("A line of ours")

    lines = [json.loads(line) for line in logged.getvalue().splitlines()]
    assert {"timestamp", "level", "logger", "message", "request_id"} <= set(lines[-1])
    secrets = [
        token, code, issued["webhookSecret"], listener, pair["accessToken"], pair["refreshToken"],
        oauth_client.SECRET, PASSWORD, "wrong wrong wrong", "a long walk home", "fbat_not_a_token", "in-the-query",
    ]  # fmt: skip
    personal = [NAME, ADDRESS, PHONE, STREET, "Zelda", mira.email, dana.email, NEW_PERSON]
    text = logged.getvalue()
    assert [each for each in secrets + personal if each in text] == []

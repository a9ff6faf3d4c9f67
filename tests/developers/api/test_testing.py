"""What the command line tries an app out with: real changes, what happened, and a manifest's problems by line."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from activity.log import flush
from extensions.enums import CallOutcome, ExtensionType
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from stores.models import Order
from tests import factories, hook_calls
from tests.clients import Api, client_of
from tests.extensions.cast import define
from tests.extensions.settings import give_settings
from tests.receivers import Receiver
from tests.webhooks.helpers import drain, webhook
from webhooks.catalogue import EVENTS
from webhooks.models import Event

ORDERS = "Contract 23 What an order tells"
pytestmark = pytest.mark.django_db(transaction=True)
SPEC = "Contract 13 Test stores"


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.DEBUG = True  # it has no public address
    with Receiver() as running:
        yield running


def test_list_has_every_event(api: Api) -> None:
    record = api("get", "/developer/test-changes").json()
    assert {each["event"] for each in record["changes"]} == set(EVENTS) - {"webhook.test"}
    assert "day" in {each["scenario"] for each in record["scenarios"]}


def test_change_is_real_and_says_where_its_event_goes(
    api: Api, app: App, installation: Installation, receiver: Receiver
) -> None:
    webhook(installation, receiver.url, ["order.created"])
    record = api("post", f"/developer/apps/{app.id}/test-changes", {"event": "order.created"}).json()
    (step,) = record["steps"]
    assert step["result"].startswith("Order ")
    event = next(each for each in step["events"] if each["event"] == "order.created")
    assert len(event["deliveries"]) == 1
    drain()
    sent = receiver.requests[-1]
    assert sent.headers["x-webhook-event-uid"] == event["eventId"]
    listed = api("get", f"/developer/apps/{app.id}/activity?kind=webhook").json()["data"]
    assert [(row["name"], row["status"], row["httpStatus"]) for row in listed] == [
        ("order.created", "SUCCEEDED", 200)
    ]


def test_change_without_a_listener_says_why_nothing_is_sent(
    api: Api, app: App, installation: Installation
) -> None:
    record = api("post", f"/developer/apps/{app.id}/test-changes", {"event": "product.created"}).json()
    (event,) = record["steps"][0]["events"]
    assert (event["event"], event["deliveries"]) == ("product.created", [])
    assert event["reason"] == "Not sent: none of the app's webhooks listens to it."


def test_erasure_comes_at_once(api: Api, app: App, installation: Installation, receiver: Receiver) -> None:
    webhook(installation, receiver.url, ["business.data_erasure"])
    path = f"/developer/apps/{app.id}/test-changes"
    (step,) = api("post", path, {"event": "business.data_erasure"}).json()["steps"]
    assert step["events"][0]["event"] == "business.data_erasure"
    drain()
    assert receiver.requests[-1].headers["x-webhook-event"] == "business.data_erasure"
    assert api("post", path, {"event": "order.created"}).status_code == 409


def test_erasure_of_a_converted_install_comes_at_once(
    api: Api, app: App, installation: Installation, receiver: Receiver
) -> None:
    factories.approve(app)
    follow_all()
    installation.refresh_from_db()
    assert not installation.is_test
    webhook(installation, receiver.url, ["business.data_erasure"])
    path = f"/developer/apps/{app.id}/test-changes"
    assert api("post", path, {"event": "business.data_erasure"}).status_code == 200
    drain()
    assert receiver.requests[-1].headers["x-webhook-event"] == "business.data_erasure"
    assert api("get", f"/developer/apps/{app.id}/test-status").json()["installed"] is False


def test_erasure_that_is_refused_keeps_the_app_installed(
    api: Api, app: App, installation: Installation, settings: Any
) -> None:
    """With no delay the erasure is due when the app is uninstalled, so there is nothing to bring forward."""
    settings.DATA_ERASURE_DELAY = 0
    path = f"/developer/apps/{app.id}/test-changes"
    assert api("post", path, {"event": "business.data_erasure"}).status_code == 409
    assert api("get", f"/developer/apps/{app.id}/test-status").json()["installed"] is True


@pytest.mark.spec(SPEC, "changes: who orders what, and who is erased")
def test_order_and_erasure_are_those_that_were_asked_for(
    api: Api, app: App, installation: Installation
) -> None:
    """Two orders of one person, of a product that the test chose; then all of that person is erased, and no other person."""
    path, shop = f"/developer/apps/{app.id}/test-changes", installation.business
    beans = factories.product(shop, name="Beans", stock=30)
    kim = {"name": "Kim Lee", "email": "Kim.Lee@Example.com"}

    def order(**details: Any) -> dict[str, Any]:
        (step,) = api("post", path, {"event": "order.created", **details}).json()["steps"]
        assert step["problem"] is None
        return next(each["data"] for each in step["events"] if each["event"] == "order.created")

    mine = [order(customer=kim, productId=str(beans.pk), quantity=2) for _ in range(2)]
    other = order(customer={"phone": "+1 555 0100"})
    found = Order.objects.get(pk=mine[0]["orderId"])
    assert (found.customer_name, found.customer_email) == ("Kim Lee", "Kim.Lee@Example.com")
    assert [(line.name, line.quantity) for line in found.items.all()] == [("Beans", 2)]
    assert mine[0]["orderNumber"] == found.number
    (step,) = api(
        "post", path, {"event": "customer.data_erasure", "customer": {"email": "kim.lee@example.com"}}
    ).json()["steps"]
    (erasure,) = [each["data"] for each in step["events"] if each["event"] == "customer.data_erasure"]
    assert sorted(erasure["orderIds"]) == sorted(each["orderId"] for each in mine)
    assert Order.objects.get(pk=mine[1]["orderId"]).customer_email == ""
    assert Order.objects.get(pk=other["orderId"]).customer_phone == "+1 555 0100"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"event": "order.created", "customer": {"name": "Kim"}}, "customer"),
        ({"event": "order.created", "customer": {"email": "kim"}}, "customer.email"),
        ({"event": "order.created", "productId": "beans"}, "productId"),
        ({"event": "order.created", "quantity": 0}, "quantity"),
        ({"event": "product.created", "customer": {"email": "kim@example.com"}}, "customer"),
        ({"event": "customer.data_erasure", "quantity": 2}, "quantity"),
        ({"scenario": "day", "productId": "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a02"}, "productId"),
        (
            {"event": "customer.data_erasure", "customer": {"email": "k@example.com", "phone": "12345"}},
            "customer",
        ),
    ],
)
def test_wrong_details_of_a_change_are_named(
    api: Api, app: App, installation: Installation, body: dict[str, Any], field: str
) -> None:
    refused = api("post", f"/developer/apps/{app.id}/test-changes", body)
    assert refused.status_code == 400
    assert [each["field"] for each in refused.json()["details"]] == [field]
    assert not Order.objects.exists()


def test_change_of_what_the_store_does_not_have_says_so(
    api: Api, app: App, installation: Installation, sam: User
) -> None:
    """A product of another store is as absent as one that was never there."""
    path = f"/developer/apps/{app.id}/test-changes"
    foreign = factories.product(factories.business(sam))
    bodies = (
        {"event": "order.created", "productId": str(foreign.pk)},
        {"event": "customer.data_erasure", "customer": {"email": "nobody@example.com"}},
    )
    problems = [api("post", path, body).json()["steps"][0]["problem"] for body in bodies]
    assert problems == [
        "The store has no available product with this ID.",
        "Nothing is stored for this customer.",
    ]


@pytest.mark.parametrize(
    "body", [{}, {"event": "order.created", "scenario": "day"}, {"event": "webhook.test"}]
)
def test_body_names_one_thing(api: Api, app: App, installation: Installation, body: dict[str, str]) -> None:
    assert api("post", f"/developer/apps/{app.id}/test-changes", body).status_code == 400


@pytest.mark.long
def test_activity_has_calls_with_reasons_and_goes_on_in_pages(
    api: Api, app: App, installation: Installation
) -> None:
    token = {"HTTP_AUTHORIZATION": f"Bearer {installation.raw_token}"}
    for number in range(51):
        Client().get(f"/app-api/products/{number}", **token)
    flush()
    path = f"/developer/apps/{app.id}/activity?kind=api&status=failed"
    first = api("get", path).json()
    assert len(first["data"]) == 50
    assert first["data"][0]["name"] == "GET /app-api/products/50"
    assert first["data"][0]["reason"] == "Product not found"
    second = api("get", f"{path}&before={first['next']}").json()
    assert [row["name"] for row in second["data"]] == ["GET /app-api/products/0"]
    assert second["next"] is None
    for malformed in ("x", "1.api", "1.api.x", "9" * 17):
        refused = api("get", f"{path}&before={malformed}")
        assert (refused.status_code, refused.json()["details"][0]["field"]) == (400, "before")


def test_failed_hook_call_says_why_and_what_the_store_did(
    api: Api, app: App, installation: Installation
) -> None:
    hook = define(app, ExtensionType.HOOK, "order.calculate_discounts")
    for fallback in ("This app gave no discount.", ""):
        hook_calls.week(installation, hook, CallOutcome.TIMEOUT, fallback=fallback)
    path = f"/developer/apps/{app.id}/activity?kind=hook&status=failed"
    assert {row["reason"] for row in api("get", path).json()["data"]} == {
        "No answer in time: No answer within 5,000 ms. This app gave no discount.",
        "No answer in time: No answer within 5,000 ms.",
    }


def test_problems_of_a_manifest_have_their_line(api: Api, app: App) -> None:
    text = '{\n  "blocks": [\n    {"blockType": "stars"}\n  ]\n}'
    record = api("post", f"/developer/apps/{app.id}/manifest/check", {"text": text}).json()
    assert {(each["path"], each["line"]) for each in record["problems"]} >= {("blocks[0].name", 3)}
    assert (record["changes"], record["problemCount"]) == ([], len(record["problems"]))


def test_good_manifest_comes_with_what_a_save_would_change(api: Api, app: App) -> None:
    block = {"blockType": "stars", "name": "Stars", "renderUrl": "https://stars.example.com/block"}
    body = {"text": json.dumps({"blocks": [block]})}
    record = api("post", f"/developer/apps/{app.id}/manifest/check", body).json()
    assert [(each["change"], each["key"]) for each in record["changes"]] == [("Added", "stars")]
    assert record["problems"] == []
    assert api("get", f"/developer/apps/{app.id}/manifest").json() == {"manifest": {}}


SETTINGS = {
    "type": "object",
    "properties": {
        "heading": {"type": "string", "maxLength": 4, "default": "Test"},
        "color": {"enum": ["red", "blue"], "default": "red"},
    },
}


def updates() -> list[Any]:
    rows = Event.objects.filter(type="installation.updated").order_by("id")
    return [json.loads(each.data) for each in rows]


@pytest.mark.spec(ORDERS, "Test stores: changes can change settings")
def test_settings_are_changed_as_a_merchant_does(api: Api, app: App, installation: Installation) -> None:
    """To those that are sent, else to others that the schema accepts. Whatever it refuses is named, and nothing is saved."""
    give_settings(app, SETTINGS)
    path = f"/developer/apps/{app.id}/test-changes"
    wanted = {"event": "installation.updated"}
    (step,) = api("post", path, wanted | {"settings": {"color": "blue"}}).json()["steps"]
    assert [each["event"] for each in step["events"]] == ["installation.updated"]
    refused = api("post", path, wanted | {"settings": {"color": "green", "heading": "Long ones"}})
    assert refused.status_code == 400
    assert {each["field"] for each in refused.json()["details"]} == {"settings.color", "settings.heading"}
    assert api("post", path, {"event": "order.created", "settings": {}}).status_code == 400
    assert api("post", path, {"scenario": "day", "settings": {}}).status_code == 400
    (step,) = api("post", path, wanted).json()["steps"]
    assert (step["result"], step["problem"]) == ("The app's settings were changed.", None)
    first, second = updates()
    assert (first["changed"], first["settings"]) == (["settings"], {"heading": "Test", "color": "blue"})
    assert (second["changed"], second["settings"]) == (["settings"], {"heading": "Test", "color": "red"})
    installation.refresh_from_db()
    assert client_of(installation).get("/app-api/installation").json()["settings"] == second["settings"]


def test_app_without_settings_is_paused_and_resumed(api: Api, app: App, installation: Installation) -> None:
    path = f"/developer/apps/{app.id}/test-changes"
    (step,) = api("post", path, {"event": "installation.updated"}).json()["steps"]
    assert step["result"] == "The app has no settings to change, so it was paused and resumed."
    assert [(each["changed"], each["paused"]) for each in updates()] == [
        (["paused"], True),
        (["paused"], False),
    ]
    refused = api("post", path, {"event": "installation.updated", "settings": {"a": 1}})
    assert (refused.status_code, refused.json()["message"]) == (400, "This app has no settings.")


@pytest.mark.spec(ORDERS, "Test stores: changes can record a refund")
def test_refund_is_recorded(api: Api, app: App, installation: Installation) -> None:
    """Of an order that was delivered, each time of another."""
    path = f"/developer/apps/{app.id}/test-changes"
    for _ in range(2):
        (step,) = api("post", path, {"event": "order.refunded"}).json()["steps"]
        assert "order.refunded" in [each["event"] for each in step["events"]]
    assert [order.refunded for order in Order.objects.all()] == [
        order.amount for order in Order.objects.all()
    ]
    refunds = [json.loads(each.data) for each in Event.objects.filter(type="order.refunded")]
    assert {each["orderId"] for each in refunds} == {str(order.pk) for order in Order.objects.all()}

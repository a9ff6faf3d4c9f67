"""What the command line tries an app out with: real changes, what happened, and a manifest's problems by line."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from activity.log import flush
from extensions.enums import CallOutcome, ExtensionType
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from tests import factories, hook_calls
from tests.clients import Api
from tests.extensions.cast import define
from tests.receivers import Receiver
from tests.webhooks.helpers import drain, webhook
from webhooks.catalogue import EVENTS

pytestmark = pytest.mark.django_db(transaction=True)


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

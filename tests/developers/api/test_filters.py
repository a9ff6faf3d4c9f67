"""`webhookFilter` of an app, and how the developer API reports an event that a filter stops (contract, section 19)."""

from typing import Any

import pytest
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.clients import BODY, Api
from tests.webhooks import helpers
from webhooks.models import Delivery, Webhook
from webhooks.services.app_defined import follow_app

RULE = "Contract 19 Filters"
URL = "https://app.example.com/hooks"
LARGE = {"all": [{"field": "amount", "op": "gte", "value": 1_000_000}]}
FREE = '{"all":[{"field":"amount","op":"lt","value":0}]}'


def fields_of(response: Any) -> list[str]:
    assert response.status_code == 400, response.json()
    return [detail["field"] for detail in response.json()["details"]]


@pytest.fixture
def app_defined(app: App, installation: Installation) -> Webhook:
    App.objects.filter(pk=app.pk).update(webhook_url=URL, webhook_events=["order.created"])
    follow_app(installations=list(Installation.objects.with_app().filter(pk=installation.pk)))
    return Webhook.objects.get(installation=installation, is_app_defined=True)


@pytest.mark.spec(RULE, "webhookFilter of the app applies at once and leaves the status; null is none")
def test_filter_of_an_app_applies_at_once(api: Api, app: App, app_defined: Webhook) -> None:
    factories.approve(app)
    path = f"/developer/apps/{app.id}"
    status = api("get", path).json()["status"]
    record = api("patch", path, {"webhookFilter": LARGE}).json()
    assert (record["webhookFilter"], record["status"]) == (LARGE, status)
    assert api("get", path).json()["webhookFilter"] == LARGE
    helpers.publish(app_defined.installation.business)
    assert not Delivery.objects.exists()
    assert api("patch", path, {"webhookFilter": None}).json()["webhookFilter"] is None
    assert helpers.published(app_defined.installation.business).webhook == app_defined


@pytest.mark.spec(RULE, "webhookFilter holds for the app-defined webhook alone")
def test_filter_of_an_app_is_not_that_of_its_other_webhooks(api: Api, app: App, app_defined: Webhook) -> None:
    own = helpers.webhook(app_defined.installation, URL, ["order.created"])
    api("patch", f"/developer/apps/{app.id}", {"webhookFilter": LARGE})
    assert helpers.published(app_defined.installation.business).webhook == own


@pytest.mark.spec(
    RULE, "webhookEvents and webhookFilter are checked together at each change; none named: every event"
)
def test_filter_and_events_of_an_app_are_checked_together(api: Api, app: App) -> None:
    path = f"/developer/apps/{app.id}"
    price = {"all": [{"field": "price", "op": "gt", "value": 1}]}
    assert api("patch", path, {"webhookFilter": price}).status_code == 200
    assert fields_of(api("patch", path, {"webhookEvents": ["order.created"]})) == [
        "webhookFilter.all[0].field"
    ]
    assert api("get", path).json()["webhookEvents"] == []
    assert api("patch", path, {"webhookEvents": ["product.created", "order.created"]}).status_code == 200
    wrong = {"any": [{"field": "price", "op": "near", "value": 1}], "some": 1}
    response = api("patch", path, {"webhookFilter": wrong})
    assert fields_of(response) == ["webhookFilter.some", "webhookFilter.any[0].op"]
    assert api("patch", path, {"webhookFilter": None, "webhookEvents": ["order.created"]}).status_code == 200
    assert fields_of(api("patch", path, {"webhookFilter": "amount"})) == ["webhookFilter"]


def test_app_is_created_with_its_filter(api: Api) -> None:
    assert api("post", "/developer/apps", BODY | {"webhookFilter": LARGE}).json()["webhookFilter"] == LARGE
    wrong = BODY | {"slug": "another", "webhookFilter": {"all": [{"field": "amounts", "op": "exists"}]}}
    assert fields_of(api("post", "/developer/apps", wrong)) == ["webhookFilter.all[0].field"]
    assert App.objects.count() == 1


def test_form_with_pictures_takes_a_filter_as_json(api: Api, app: App) -> None:
    def send(text: str) -> Any:
        body = encode_multipart(BOUNDARY, {"webhookFilter": text})
        return api("patch", f"/developer/apps/{app.id}", data=body, content_type=MULTIPART_CONTENT)

    assert send('{"changed": ["price"]}').json()["webhookFilter"] == {"changed": ["price"]}
    assert fields_of(send("{")) == ["webhookFilter"]
    assert send("null").json()["webhookFilter"] is None


@pytest.mark.spec(RULE, "test-events names the condition in reason, as field op value")
def test_test_event_names_the_condition(api: Api, app: App, app_defined: Webhook) -> None:
    path = f"/developer/apps/{app.id}"
    api("patch", path, {"webhookFilter": LARGE})
    stopped = api("post", f"{path}/test-events", {"event": "order.created"}).json()
    assert (stopped["deliveries"], "amount gte 1000000" in stopped["reason"]) == (0, True)
    # One webhook gets it, and the reason says why the other doesn't.
    helpers.webhook(app_defined.installation, "https://app.example.com/two", ["order.created"])
    some = api("post", f"{path}/test-events", {"event": "order.created"}).json()
    assert some["deliveries"] == 1
    assert some["reason"] == f"Not sent to {URL}: its filter asks for amount gte 1000000."
    api("patch", path, {"webhookFilter": None})
    assert api("post", f"{path}/test-events", {"event": "order.created"}).json()["reason"] is None


@pytest.mark.spec(RULE, "test-changes names the condition in reason, as field op value")
def test_test_change_names_the_condition(api: Api, app: App, installation: Installation) -> None:
    helpers.webhook(installation, URL, ["order.created", "order.status_changed"], filter=FREE)
    (step,) = api("post", f"/developer/apps/{app.id}/test-changes", {"event": "order.created"}).json()[
        "steps"
    ]
    event = next(each for each in step["events"] if each["event"] == "order.created")
    assert (event["deliveries"], "amount lt 0" in event["reason"]) == ([], True)
    App.objects.update(scopes=["read_products"])
    (step,) = api("post", f"/developer/apps/{app.id}/test-changes", {"event": "order.created"}).json()[
        "steps"
    ]
    assert step["events"][0]["reason"] == "Not sent: the app lacks read_orders."


@pytest.mark.spec(RULE, "Erasures pass a filter")
def test_erasure_passes(api: Api, app: App, installation: Installation) -> None:
    names = ["customer.data_erasure", "business.data_erasure", "order.created"]
    webhook = helpers.webhook(installation, URL, names, filter=FREE)
    path = f"/developer/apps/{app.id}"
    sent = api("post", f"{path}/test-events", {"event": "customer.data_erasure"}).json()
    assert (sent["deliveries"], sent["reason"]) == (1, None)
    (step,) = api("post", f"{path}/test-changes", {"event": "business.data_erasure"}).json()["steps"]
    erased = Delivery.objects.filter(pk__in=[each["id"] for each in step["events"][0]["deliveries"]])
    assert webhook.pk in erased.values_list("webhook", flat=True)

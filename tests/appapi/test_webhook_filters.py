"""Filters of webhooks, as an app sets and meets them (contract, section 19)."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Business
from installations.models import Installation
from marketplace.models import App
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Event, Webhook
from webhooks.services.app_defined import follow_app

RULE = "Contract 19 Filters"
JSON = "application/json"
URL = "https://127.0.0.1:9/hook"  # nothing listens there
LARGE = {"all": [{"field": "amount", "op": "gte", "value": 100}]}
SMALL = {"any": [{"field": "amount", "op": "lt", "value": 100}]}


def register(api: Client, **body: Any) -> Any:
    return api.post("/webhooks", {"url": URL, "events": ["order.created"]} | body, content_type=JSON)


def patch(api: Client, webhook: Webhook, **changes: Any) -> Any:
    return api.patch(f"/webhooks/{webhook.id}", changes, content_type=JSON)


def where(op: str, *value: Any, field: str = "amount") -> dict[str, Any]:
    return {"all": [{"field": field, "op": op} | ({"value": value[0]} if value else {})]}


def fields_of(answer: Any) -> list[str]:
    assert answer.status_code == 400, answer.json()
    return [each["field"] for each in answer.json()["details"]]


@pytest.fixture
def webhook(api: Client) -> Webhook:
    return Webhook.objects.get(pk=register(api, filter=LARGE).json()["id"])


@pytest.fixture
def app_defined(app: App, installation: Installation) -> Webhook:
    App.objects.filter(pk=app.pk).update(
        webhook_url=URL, webhook_filter='{"all":[{"field":"amount","op":"gte","value":100}]}'
    )
    follow_app(installations=list(Installation.objects.with_app().filter(pk=installation.pk)))
    return Webhook.objects.get(installation=installation, is_app_defined=True)


@pytest.mark.spec(RULE, "filter of a webhook is set by POST and PATCH and shown as it was sent; null is none")
def test_filter_is_kept_as_it_was_sent(api: Client) -> None:
    # A whole number stays one, a letter beyond ASCII and a NUL are text, and nothing is filled in.
    sent = {
        "changed": ["status"],
        "any": [
            {"op": "in", "field": "status", "value": ["é\x00", 1, 1.0, 1e300, True]},
            {"field": "changedFields[]", "op": "exists"},
        ],
    }
    made = register(api, events=["order.status_changed"], filter=sent).json()
    shown = api.get(f"/webhooks/{made['id']}")
    assert (made["filter"], shown.json()["filter"]) == (sent, sent)
    assert b"1,1.0,1e300,true" in shown.content.replace(b" ", b"").replace(b"e+", b"e")
    webhook = Webhook.objects.get()
    assert patch(api, webhook, description="Till").json()["filter"] == sent
    assert patch(api, webhook, filter=None).json()["filter"] is None
    assert register(api).json()["filter"] is None
    assert register(api, filter=None).json()["filter"] is None


TOO_LONG = "x" * 501
MOMENT = {"field": "createdAt", "op": "eq"}


@pytest.mark.spec(RULE, "A filter that is wrong is 400, and the path names what is wrong")
@pytest.mark.parametrize(
    ("document", "paths"),
    [
        ("amount", ["filter"]),
        ([], ["filter"]),
        ({}, ["filter"]),
        ({"all": LARGE["all"], "any": LARGE["all"]}, ["filter"]),
        ({"none": LARGE["all"]}, ["filter.none", "filter"]),
        (LARGE | {"then": 1}, ["filter.then"]),
        ({"all": []}, ["filter.all"]),
        ({"all": None}, ["filter.all"]),
        ({"any": LARGE["all"] * 9}, ["filter.any"]),
        ({"all": [LARGE]}, ["filter.all[0].all", "filter.all[0].field", "filter.all[0].op"]),
        ({"all": [*LARGE["all"], "amount"]}, ["filter.all[1]"]),
        ({"any": [LARGE["all"][0] | {"not": True}]}, ["filter.any[0].not"]),
        (where("eq", 1, field="amounts"), ["filter.all[0].field"]),
        (where("eq", 1, field="amount[]"), ["filter.all[0].field"]),
        (where("eq", 1, field="amount."), ["filter.all[0].field"]),
        (where("eq", 1, field="amount\n"), ["filter.all[0].field"]),
        (where("eq", 1, field="ämount"), ["filter.all[0].field"]),
        (where("eq", 1, field=".".join(["amount"] * 20)), ["filter.all[0].field"]),
        (where("eq", 1, field="stock"), ["filter.all[0].field"]),  # of another event
        (where("eq", 1, field="status"), ["filter.all[0].field"]),
        (where("like", 1), ["filter.all[0].op"]),
        (where("eq"), ["filter.all[0].value"]),
        (where("eq", None), ["filter.all[0].value"]),
        (where("ne", [1]), ["filter.all[0].value"]),
        (where("eq", {}), ["filter.all[0].value"]),
        (where("eq", TOO_LONG), ["filter.all[0].value"]),
        (where("contains", TOO_LONG), ["filter.all[0].value"]),
        (where("gt", True), ["filter.all[0].value"]),
        (where("lte", None), ["filter.all[0].value"]),
        (where("in", 1), ["filter.all[0].value"]),
        (where("in", []), ["filter.all[0].value"]),
        (where("in", list(range(51))), ["filter.all[0].value"]),
        (where("in", [1, None, TOO_LONG]), ["filter.all[0].value[1]", "filter.all[0].value[2]"]),
        (where("exists", "yes"), ["filter.all[0].value"]),
        (where("exists", None), ["filter.all[0].value"]),
        ({"all": [MOMENT | {"value": "yesterday"}]}, ["filter.all[0].value"]),
        ({"all": [MOMENT | {"value": "2026-11-20T15:04:05"}]}, ["filter.all[0].value"]),
        ({"all": [MOMENT | {"value": "20261120T150405Z"}]}, ["filter.all[0].value"]),
        ({"all": [MOMENT | {"value": "2026-02-30T15:04:05Z"}]}, ["filter.all[0].value"]),
        ({"all": [MOMENT | {"value": 1795187045}]}, ["filter.all[0].value"]),
        ({"all": [MOMENT | {"op": "in", "value": ["2026-11-20T15:04:05Z", "soon"]}]}, ["filter.all[0].value[1]"]),
        ({"changed": ["amount"]}, ["filter.changed[0]"]),  # order.created doesn't say what changed
        ({"changed": []}, ["filter.changed"]),
        ({"changed": ["status"] * 9}, ["filter.changed"]),
        ({"changed": "status"}, ["filter.changed"]),
    ],
    ids=str,
)  # fmt: skip
def test_wrong_filter(api: Client, document: Any, paths: list[str]) -> None:
    assert fields_of(register(api, filter=document)) == paths
    assert not Webhook.objects.exists()


@pytest.mark.spec(RULE, "Every value and field within its limit is accepted")
@pytest.mark.parametrize(
    "document",
    [
        {"all": [*LARGE["all"] * 7, *where("eq", "x" * 500)["all"]]},
        where("in", ["x" * 500, *range(49)]),
        where("exists"),
        where("exists", False),
        where("contains", True),
        where("gte", ""),
        {"all": [MOMENT | {"op": "exists", "value": False}]},
        {"all": [MOMENT | {"op": "in", "value": ["2026-11-20T15:04:05.123456789+23:59", "2016-12-31t23:59:60z"]}]},
    ],
    ids=str,
)  # fmt: skip
def test_right_filter(api: Client, document: Any) -> None:
    assert register(api, filter=document).status_code == 201


@pytest.mark.spec(RULE, "changed names properties of the data of a named event that has changedFields")
def test_changed_of_a_named_event(api: Client) -> None:
    both = ["product.updated", "order.created"]
    assert register(api, events=both, filter={"changed": ["price", "stock"]}).status_code == 201
    assert fields_of(register(api, events=both, filter={"changed": ["price", "amount"]})) == [
        "filter.changed[1]"
    ]
    for name in ("order.status_changed", "order.delivered", "order.cancelled"):
        assert register(api, events=[name], filter={"changed": ["status"]}).status_code == 201


@pytest.mark.spec(RULE, "All problems are named at once")
def test_problems_of_url_events_and_filter_come_together(api: Client, webhook: Webhook) -> None:
    wrong = {"url": "ftp://example.com", "events": ["nope", "order.created"], "filter": where("like", 1)}
    paths = ["url", "events[0]", "filter.all[0].op"]
    assert fields_of(register(api, **wrong)) == paths
    assert fields_of(patch(api, webhook, **wrong)) == paths


@pytest.mark.spec(RULE, "events and filter are checked together at each change")
def test_events_may_not_leave_a_filter_behind(api: Client, webhook: Webhook) -> None:
    assert fields_of(patch(api, webhook, events=["product.created"])) == ["filter.all[0].field"]
    assert fields_of(patch(api, webhook, filter=where("eq", 1, field="price"))) == ["filter.all[0].field"]
    webhook.refresh_from_db()
    assert webhook.events == ["order.created"]
    both = patch(api, webhook, events=["product.created"], filter=where("eq", 1, field="price"))
    assert (both.status_code, both.json()["events"]) == (200, ["product.created"])
    assert patch(api, webhook, events=["order.created"], filter=None).json()["filter"] is None


@pytest.mark.spec(RULE, "The filter of the app-defined webhook is the app's; a PATCH of another is 409")
def test_app_defined_webhook_has_the_apps_filter(api: Client, app_defined: Webhook) -> None:
    assert api.get(f"/webhooks/{app_defined.id}").json()["filter"] == LARGE
    assert api.get("/webhooks").json()["data"][0]["filter"] == LARGE
    for other in (SMALL, None):
        answer = patch(api, app_defined, filter=other, description="x")
        assert (answer.status_code, answer["X-Error-Code"]) == (409, "webhook_filter_fixed")
    app_defined.refresh_from_db()
    assert (app_defined.filter, app_defined.description) == (None, "")
    same = {"all": [{"value": 100, "op": "gte", "field": "amount"}]}
    assert patch(api, app_defined, filter=same, description="Mine").json()["description"] == "Mine"
    assert fields_of(patch(api, app_defined, events=["review.created"])) == ["filter.all[0].field"]


def test_list_with_an_app_defined_webhook_takes_no_statement_more(
    api: Client, app_defined: Webhook, statements: Any
) -> None:
    with statements() as captured:
        api.get("/webhooks")
    assert len(captured) == 3  # token, rows, total


@pytest.mark.timed
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(RULE, "A filtered event makes no delivery and stays in the feed")
def test_filtered_event_is_in_the_feed_alone(api: Client, webhook: Webhook, sandbox: Business) -> None:
    event = helpers.publish(sandbox)  # of 28.5
    assert not Delivery.objects.exists()
    helpers.wait_for_feed()
    (seen,) = api.get("/app-api/events").json()["data"]
    assert (seen["id"], seen["data"]["amount"]) == (str(event and event.pk), 28.5)
    patch(api, webhook, filter=SMALL)
    helpers.published(sandbox)


@pytest.mark.spec(
    RULE, "A filter is judged when the event is written; resending and recovering don't ask again"
)
def test_what_passed_once_is_resent(api: Client, webhook: Webhook, sandbox: Business) -> None:
    patch(api, webhook, filter=SMALL)
    made = helpers.published(sandbox)
    Delivery.objects.update(status=DeliveryStatus.EXHAUSTED, due_at=None)
    patch(api, webhook, filter=LARGE)
    again = api.post(f"/webhooks/{webhook.id}/deliveries/{made.id}/redeliver")
    assert (again.status_code, again.json()["status"]) == (202, "PENDING")
    Delivery.objects.update(status=DeliveryStatus.EXHAUSTED, due_at=None)
    recovered = api.post(
        f"/webhooks/{webhook.id}/recover", {"since": "2020-01-01T00:00:00Z"}, content_type=JSON
    )
    assert recovered.json() == {"deliveries": 1}
    # What was stopped stays so.
    helpers.publish(sandbox)
    patch(api, webhook, filter=None)
    assert Event.objects.count() == 2
    assert api.post(
        f"/webhooks/{webhook.id}/recover", {"since": "2020-01-01T00:00:00Z"}, content_type=JSON
    ).json() == {"deliveries": 0}

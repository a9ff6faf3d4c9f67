"""`/developer/apps/:appId/test-events` and `/deliveries`."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest

from accounts.models import Business, User
from common.ids import id_at
from installations.models import Installation
from installations.services import uninstall
from marketplace.models import App
from stores.models import Review
from tests import factories
from tests.clients import Api
from tests.payloads import validate
from tests.webhooks import helpers
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.services.sandbox.samples import SAMPLES, sample_data

URL = "https://127.0.0.1:9/hook"
NOW = datetime(2026, 11, 20, 15, 4, 5, tzinfo=UTC)


@pytest.fixture
def webhook(installation: Installation) -> Webhook:
    return helpers.webhook(installation, URL, ["order.created", "product.created"])


# Test events


@pytest.mark.spec(
    "Contract 2 Developer API",
    "test-events publishes an event with sample data to the installation on the developer's sandbox",
)
def test_event_reaches_the_webhooks_that_named_it(
    api: Api, app: App, webhook: Webhook, installation: Installation
) -> None:
    helpers.webhook(installation, URL, ["review.created"])
    helpers.webhook(installation, URL, ["order.created"], is_active=False)
    answer = api("post", f"/developer/apps/{app.id}/test-events", {"event": "order.created"})
    assert answer.status_code == 202
    [delivery] = Delivery.objects.all()
    assert (delivery.webhook, delivery.status) == (webhook, "PENDING")
    assert answer.json() == {"eventId": str(delivery.event_id), "deliveries": 1, "reason": None}


def test_event_stays_on_the_own_sandbox(
    api: Api, app: App, webhook: Webhook, shop: Business, dana: User, sandbox: Business
) -> None:
    helpers.webhook(factories.installation(app, shop), URL, ["order.created"])
    helpers.webhook(factories.installation(factories.app(dana), sandbox), URL, ["order.created"])
    answer = api("post", f"/developer/apps/{app.id}/test-events", {"event": "order.created"})
    assert answer.json()["deliveries"] == 1
    assert Delivery.objects.get().webhook == webhook


@pytest.mark.spec("Contract 9 Deliveries", "The usual filters apply to test events; deliveries is a number")
def test_event_that_nobody_gets_exists_all_the_same(api: Api, app: App, webhook: Webhook) -> None:
    answer = api("post", f"/developer/apps/{app.id}/test-events", {"event": "review.created"}).json()
    assert (answer["eventId"], answer["deliveries"]) == (str(Event.objects.get().id), 0)
    assert answer["reason"] == "Not sent: none of the app's webhooks listens to it."
    App.objects.update(scopes=["read_products"])
    answer = api("post", f"/developer/apps/{app.id}/test-events", {"event": "order.created"}).json()
    assert (answer["deliveries"], answer["reason"]) == (0, "Not sent: the app lacks read_orders.")


@pytest.mark.parametrize(
    "name",
    ["webhook.test", "business.data_erasure", "app.uninstalled", "order.created\n", "", None, 5, ["x"]],
)
def test_event_that_can_not_be_tried_is_400(name: Any, api: Api, app: App, webhook: Webhook) -> None:
    answer = api("post", f"/developer/apps/{app.id}/test-events", {"event": name})
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["details"]] == ["event"]
    assert not Event.objects.exists()


def test_event_without_an_installation_is_409(api: Api, app: App, shop: Business) -> None:
    factories.installation(app, shop)
    answer = api("post", f"/developer/apps/{app.id}/test-events", {"event": "order.created"})
    assert answer.status_code == 409
    assert not Event.objects.exists()


@pytest.mark.parametrize("name", SAMPLES)
def test_sample_fits_the_published_schema(name: str, sandbox: Business) -> None:
    validate(name, sample_data(sandbox, name, NOW))
    product = factories.product(sandbox, name="Tea")
    order = factories.order(sandbox)
    Review.objects.create(business=sandbox, product=product, rating=5, author_name="Kim")
    data = sample_data(sandbox, name, NOW)
    validate(name, data)
    if name.startswith(("order.", "payment.")):
        assert (data["orderId"], data["orderNumber"], data.get("amount", 20.0)) == (
            str(order.id), order.number, 20.0,
        )  # fmt: skip
    if name.startswith("product.") and name != "product.deleted":
        assert data["name"] == "Tea"


# Deliveries


def delivered(
    webhook: Webhook, event_type: str = "order.created", status: str = "EXHAUSTED", at: int = 0
) -> Delivery:
    moment = NOW + timedelta(seconds=at)
    event = Event.objects.create(
        id=id_at(moment),
        business=webhook.installation.business,
        type=event_type,
        data="{}",
        occurred_at=moment,
    )
    return Delivery.objects.create(
        id=id_at(moment), event=event, webhook=webhook, status=status, created_at=moment, attempts_made=6,
        attempt_count=6, finished_at=moment,
    )  # fmt: skip


def ids(answer: Any) -> list[str]:
    return [record["id"] for record in answer.json()["data"]]


@pytest.mark.spec("Contract 2 Developer API", "deliveries over all installations of the app, newest first")
def test_list_is_over_all_installations(api: Api, app: App, webhook: Webhook, shop: Business) -> None:
    production = factories.installation(app, shop)
    elsewhere = helpers.webhook(production, URL, ["order.created"])
    rows = [delivered(webhook, at=0), delivered(elsewhere, at=1), delivered(webhook, at=2)]
    answer = api("get", f"/developer/apps/{app.id}/deliveries")
    assert ids(answer) == [str(row.id) for row in reversed(rows)]
    body = answer.json()
    assert (body["total"], body["page"], body["limit"]) == (3, 1, 50)
    assert body["data"][1] == {
        "id": str(rows[1].id),
        "eventId": str(rows[1].event_id),
        "event": "order.created",
        "webhookId": str(elsewhere.id),
        "installationId": str(production.id),
        "status": "EXHAUSTED",
        "createdAt": "2026-11-20T15:04:06.000Z",
        "nextAttemptAt": None,
        "attemptCount": 6,
    }


@pytest.mark.spec("Contract 2 Developer API", "filters status, event, installationId; paginated 50/100")
def test_list_filters_and_pages(api: Api, app: App, webhook: Webhook, shop: Business) -> None:
    production = factories.installation(app, shop)
    elsewhere = helpers.webhook(production, URL, ["order.created"])
    first = delivered(webhook, "product.created", "HELD", 0)
    second = delivered(elsewhere, "order.created", "HELD", 1)
    third = delivered(webhook, "order.created", "SUCCEEDED", 2)
    path = f"/developer/apps/{app.id}/deliveries"
    assert ids(api("get", f"{path}?status=HELD")) == [str(second.id), str(first.id)]
    assert ids(api("get", f"{path}?event=order.created")) == [str(third.id), str(second.id)]
    assert ids(api("get", f"{path}?installationId={production.id}")) == [str(second.id)]
    both = api("get", f"{path}?status=HELD&event=product.created")
    assert (ids(both), both.json()["total"]) == ([str(first.id)], 1)
    assert ids(api("get", f"{path}?limit=2&page=2")) == [str(first.id)]
    assert api("get", f"{path}?limit=2&page=9").json()["data"] == []
    assert api("get", f"{path}?limit=500").json()["limit"] == 100


def test_list_of_a_foreign_or_senseless_installation_is_empty(
    api: Api, app: App, webhook: Webhook, sam: User
) -> None:
    foreign = factories.installation(factories.app(sam), Business.objects.sandbox_of(sam))
    delivered(helpers.webhook(foreign, URL, ["order.created"]))
    delivered(webhook)
    for installation_id in (foreign.id, uuid4(), "nonsense", ""):
        answer = api("get", f"/developer/apps/{app.id}/deliveries?installationId={installation_id}")
        assert (answer.status_code, answer.json()["data"], answer.json()["total"]) == (200, [], 0)


def test_list_with_wrong_filters_is_400(api: Api, app: App) -> None:
    answer = api("get", f"/developer/apps/{app.id}/deliveries?status=DONE&event=order.eaten&limit=0")
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["details"]] == ["limit", "status", "event"]


def test_list_keeps_what_ended(api: Api, app: App, webhook: Webhook, installation: Installation) -> None:
    one = delivered(webhook)
    uninstall(installation=installation)
    assert ids(api("get", f"/developer/apps/{app.id}/deliveries?status=EXHAUSTED")) == [str(one.id)]


@pytest.mark.parametrize("count", [1, 3])
def test_list_takes_the_same_statements_however_many(
    count: int, api: Api, app: App, webhook: Webhook, django_assert_num_queries: Any
) -> None:
    for second in range(count):
        delivered(webhook, at=second)
    with django_assert_num_queries(5):  # user, app, ids, rows, total
        api("get", f"/developer/apps/{app.id}/deliveries")


def test_one_delivery_tells_its_attempts(api: Api, app: App, webhook: Webhook) -> None:
    one = delivered(webhook)
    Attempt.objects.create(delivery=one, number=1, attempted_at=NOW, http_status=204, duration_ms=3)
    record = api("get", f"/developer/apps/{app.id}/deliveries/{one.id}").json()
    assert record["attempts"] == [
        {
            "number": 1,
            "attemptedAt": "2026-11-20T15:04:05.000Z",
            "httpStatus": 204,
            "durationMs": 3,
            "errorClass": None,
            "responseExcerpt": "",
        }
    ]


@pytest.mark.spec("Contract 2 Developer API", "redeliver: 202, resends under the same id")
def test_redelivery(api: Api, app: App, webhook: Webhook) -> None:
    one = delivered(webhook)
    answer = api("post", f"/developer/apps/{app.id}/deliveries/{one.id}/redeliver")
    assert (answer.status_code, answer.json()["id"], answer.json()["status"]) == (202, str(one.id), "PENDING")
    Delivery.objects.update(status="EXHAUSTED")
    Webhook.objects.update(is_active=False)
    assert api("post", f"/developer/apps/{app.id}/deliveries/{one.id}/redeliver").status_code == 409


@pytest.mark.spec("Errors", "404: absent, or another tenant's")
def test_delivery_of_another_app_is_not_found(
    api: Api, sams_api: Api, app: App, webhook: Webhook, sam: User, dana: User
) -> None:
    one = delivered(webhook)
    other = f"/developer/apps/{factories.app(dana).id}/deliveries/{one.id}"
    assert api("get", other).json()["message"] == "Delivery not found"
    assert sams_api("get", f"/developer/apps/{factories.app(sam).id}/deliveries/{one.id}").status_code == 404
    assert api("get", f"/developer/apps/{app.id}/deliveries/nonsense").status_code == 404
    assert Event.objects.count() == 1
    one.refresh_from_db()
    assert one.status == "EXHAUSTED"

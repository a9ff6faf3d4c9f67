"""Test stores over the developer API: opened, used, closed, and nothing left (contract, section 13)."""

import json
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business, User
from activity.log import flush
from activity.models import ApiCall
from common.http.exchanges import Exchange
from common.models import KeptAnswer
from common.times import parse_moment
from conformance.tasks import remove_ended_checks
from extensions.models import Breaker, HookCall
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from stores.models import Order, Payment, Product
from stores.samples.bakery import SHELVES
from stores.samples.store import OPEN_ORDERS, PAST_ORDERS
from tests import factories
from tests.clients import Api, api_of
from tests.receivers import Receiver
from tests.webhooks.helpers import claim, drain
from teststores.models import TestStore
from webhooks.engine import recording
from webhooks.engine.judging import result_of
from webhooks.engine.preparation import prepare
from webhooks.models import Delivery, Endpoint, Erasure, Event, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
SPEC = "Contract 13 Test stores"


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.DEBUG = True  # it has no public address
    with Receiver() as running:
        yield running


@pytest.fixture
def path(app: App) -> str:
    return f"/developer/apps/{app.pk}/test-stores"


@pytest.fixture
def listening(app: App, receiver: Receiver) -> App:
    """The app, whose Webhook URL is the receiver's."""
    App.objects.update(
        webhook_url=receiver.url, webhook_events=["order.created"], scopes=["read_orders", "read_products"]
    )
    app.refresh_from_db()
    return app


def opened(api: Api, path: str, **body: object) -> dict[str, Any]:
    answer = api("post", path, body)
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


@pytest.mark.spec(
    SPEC,
    "201 id, businessId, storeUrl, expiresAt, installationId, accessToken, webhookSecret, isTestInstall, webhookId",
)
def test_store_opens_with_data_installation_and_webhook(api: Api, path: str, listening: App) -> None:
    answer = api("post", path, {})
    record = answer.json()
    assert (answer.status_code, answer["Cache-Control"]) == (201, "no-store")
    store = Business.objects.get(pk=record["businessId"])
    installation = Installation.objects.get(business=store)
    assert store.expires_at
    assert abs(store.expires_at - timezone.now() - timedelta(minutes=15)) < timedelta(seconds=30)
    assert record["installationId"] == str(installation.pk)
    assert record["webhookId"] == str(Webhook.objects.get(installation=installation).pk)
    assert (record["isTestInstall"], record["webhookSecret"]) == (True, installation.webhook_secret)
    called = Client().get(
        "/app-api/orders?limit=1", headers={"Authorization": f"Bearer {record['accessToken']}"}
    )
    assert (called.status_code, called.json()["total"] > 0) == (200, True)
    assert not Event.objects.exists()
    (listed,) = api("get", path).json()["data"]
    assert listed.items() <= record.items() | {"createdAt": listed["createdAt"]}.items()
    assert not {"accessToken", "webhookSecret"} & set(listed)


@pytest.mark.spec(
    SPEC, "scenario default, empty, busy: 500 products and 500 orders; webhookId null without a Webhook URL"
)
def test_scenarios(api: Api, path: str, app: App) -> None:
    App.objects.update(webhook_url="")
    counts = {}
    for scenario in ("default", "empty", "busy"):
        record = opened(api, path, scenario=scenario)
        assert record["webhookId"] is None
        mine = {"business": record["businessId"]}
        counts[scenario] = (Product.objects.filter(**mine).count(), Order.objects.filter(**mine).count())
        assert not Order.objects.filter(**mine, created_at__gt=timezone.now()).exists()
    goods = sum(map(len, SHELVES.values()))
    assert counts == {"default": (goods, PAST_ORDERS + len(OPEN_ORDERS)), "empty": (0, 0), "busy": (500, 500)}


@pytest.mark.spec(SPEC, "expiresIn 60 to 3600 s; unknown scenario 400")
@pytest.mark.parametrize(
    "body",
    [{"scenario": "full"}, {"scenario": None}, {"expiresIn": 59}, {"expiresIn": 3601}, {"expiresIn": "900"}],
)
def test_bad_wishes_are_refused(api: Api, path: str, body: dict[str, object]) -> None:
    answer = api("post", path, body)
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, next(iter(body)))
    assert not TestStore.objects.exists()


@pytest.mark.spec(SPEC, "At most 8 at once for a developer over all apps (409), those of checks aside")
def test_ninth_store_at_once_is_refused(api: Api, path: str, dana: User, app: App) -> None:
    other = factories.app(dana)
    for number in range(8):
        opened(api, path if number % 2 else f"/developer/apps/{other.pk}/test-stores", scenario="empty")
    api("post", f"/developer/apps/{app.pk}/checks", {})
    assert api("post", path, {}).status_code == 409
    first = TestStore.objects.earliest("id")
    assert api("delete", f"/developer/test-stores/{first.pk}").status_code == 204
    opened(api, path, scenario="empty")


@pytest.mark.spec(SPEC, "in any status but suspended (409); another's is 404")
def test_suspended_app_and_strangers(api: Api, path: str, sam: User, mira: User) -> None:
    record = opened(api, path, scenario="empty")
    mine = f"/developer/test-stores/{record['id']}"
    for who, status in ((api_of(sam), 404), (api_of(mira), 403)):
        assert who("post", path, {}).status_code == status
        for method, each in (("delete", ""), ("post", "/changes"), ("post", "/install"), ("post", "/uninstall"), ("get", "/deliveries"), ("get", "/calls")):  # fmt: skip
            assert who(method, mine + each, {"event": "order.created"}).status_code == status
    App.objects.update(suspended_at=timezone.now())
    assert api("post", path, {}).status_code == 409
    assert api("post", f"{mine}/install").status_code == 409


@pytest.mark.spec(SPEC, "changes, deliveries with attempts, calls; nothing of another store")
def test_what_happens_in_a_store_stays_there(
    api: Api, path: str, listening: App, receiver: Receiver, installation: Installation
) -> None:
    first, second = opened(api, path), opened(api, path)
    made = api("post", f"/developer/test-stores/{first['id']}/changes", {"event": "order.created"}).json()
    drain()
    (event,) = [each for step in made["steps"] for each in step["events"]]
    (sent,) = receiver.requests
    assert json.loads(sent.body)["businessId"] == first["businessId"]
    assert json.loads(sent.body)["webhookId"] == first["webhookId"]
    listed = api("get", f"/developer/test-stores/{first['id']}/deliveries").json()
    (row,) = listed["data"]
    assert (row["eventId"], row["status"], listed["total"]) == (event["eventId"], "SUCCEEDED", 1)
    assert [attempt["httpStatus"] for attempt in row["attempts"]] == [200]
    assert api("get", f"/developer/test-stores/{second['id']}/deliveries").json()["data"] == []
    headers = {"Authorization": f"Bearer {first['accessToken']}"}
    Client().get("/app-api/products?limit=1", headers=headers)
    flush()
    (call,) = api("get", f"/developer/test-stores/{first['id']}/calls").json()["data"]
    assert (call["kind"], call["method"], call["path"], call["status"]) == (
        "API",
        "GET",
        "/app-api/products?limit=1",
        200,
    )
    assert api("get", f"/developer/test-stores/{second['id']}/calls").json()["total"] == 0
    assert (
        api("post", f"/developer/test-stores/{first['id']}/changes", {"event": "no.such"}).status_code == 400
    )


@pytest.mark.spec(
    SPEC,
    "uninstall and install as test-uninstall and test-install; not installed 409, before anything is changed",
)
def test_app_leaves_its_store_and_comes_back(api: Api, path: str, listening: App) -> None:
    record = opened(api, path, scenario="empty")
    mine = f"/developer/test-stores/{record['id']}"
    ended = api("post", f"{mine}/uninstall").json()
    assert set(ended) == {"installationId", "uninstalledAt", "dataErasureAt"}
    headers = {"Authorization": f"Bearer {record['accessToken']}"}
    assert Client().get("/app-api/products", headers=headers).status_code == 401
    orders = Order.objects.count()
    for refused in (
        api("post", f"{mine}/changes", {"event": "order.created"}),
        api("post", f"{mine}/uninstall"),
    ):
        assert refused.status_code == 409
    assert Order.objects.count() == orders
    again = api("post", f"{mine}/install")
    assert (again.status_code, again.json()["isTestInstall"]) == (201, True)
    assert not Delivery.objects.filter(event_type="business.data_erasure", status="PENDING").exists()
    (step,) = api("post", f"{mine}/changes", {"event": "business.data_erasure"}).json()["steps"]
    assert step["events"][0]["deliveries"]


@pytest.mark.spec(
    SPEC,
    "As at expiresAt: within a minute token and webhooks answer 401, nothing waiting is sent, nothing is left",
)
@pytest.mark.parametrize("by_deletion", [True, False])
def test_nothing_is_left_of_a_store(
    api: Api, path: str, listening: App, receiver: Receiver, by_deletion: bool, installation: Installation
) -> None:
    record = opened(api, path)
    mine = f"/developer/test-stores/{record['id']}"
    api("post", f"{mine}/changes", {"event": "order.created"})
    advanced(api, record, seconds=1)
    headers = {"Authorization": f"Bearer {record['accessToken']}"}
    Client().get("/app-api/orders", headers=headers)
    flush()
    if by_deletion:
        assert api("delete", mine).status_code == 204
    else:
        Business.objects.filter(pk=record["businessId"]).update(expires_at=timezone.now())
    assert api("get", f"{mine}/calls").status_code == 404
    assert api("get", path).json()["total"] == 0
    remove_ended_checks()
    drain()
    assert receiver.requests == []
    assert Client().get("/app-api/orders", headers=headers).status_code == 401
    assert Client().get("/webhooks", headers=headers).status_code == 401
    left = {"business": record["businessId"]}
    assert not Business.objects.filter(pk=record["businessId"]).exists()
    assert not Event.objects.filter(**left).exists()
    assert not Delivery.objects.filter(business_id=record["businessId"]).exists()
    assert not ApiCall.objects.filter(installation=record["installationId"]).exists()
    assert not HookCall.objects.filter(installation=record["installationId"]).exists()
    assert not TestStore.objects.exists()
    assert not Endpoint.objects.exists()
    assert Installation.objects.get() == installation


@pytest.mark.spec(
    SPEC,
    "Nothing of a test store counts in analytics, install counts or listings, is converted by an approval, or mails anybody",
)
def test_store_counts_nowhere_and_is_not_converted(
    api: Api, path: str, app: App, mailoutbox: list[Any]
) -> None:
    analytics = f"/developer/apps/{app.pk}/analytics"
    before = api("get", analytics).json()
    record = opened(api, path)
    api("post", f"/developer/test-stores/{record['id']}/changes", {"scenario": "day"})
    drain()
    assert api("get", analytics).json() == before
    factories.approve(app)
    follow_all()
    assert Installation.objects.get(business=record["businessId"]).is_test
    assert mailoutbox == []


# The store's clock


def advanced(api: Api, record: dict[str, Any], **span: float) -> dict[str, Any]:
    body = {"seconds": int(timedelta(**span).total_seconds())}
    answer = api("post", f"/developer/test-stores/{record['id']}/advance", body)
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def attempts_of(api: Api, record: dict[str, Any]) -> list[dict[str, Any]]:
    (row,) = api("get", f"/developer/test-stores/{record['id']}/deliveries").json()["data"]
    return list(row["attempts"])


def offsets(attempts: list[dict[str, Any]]) -> list[float]:
    """Seconds from each attempt's due time to the next one's."""
    due = [parse_moment(each["dueAt"]) for each in attempts]
    return [(later - earlier).total_seconds() for earlier, later in pairwise(due)]  # type: ignore[operator]


@pytest.mark.spec(
    SPEC,
    "retries, those of an attempt made in the same advance included, by the documented schedule; dueAt by the store's clock",
)
def test_three_hours_of_retries_in_their_order(
    api: Api, path: str, listening: App, receiver: Receiver, installation: Installation
) -> None:
    receiver.respond_with(500)
    record, other = opened(api, path), opened(api, path)
    for each in (record, other):
        api("post", f"/developer/test-stores/{each['id']}/changes", {"event": "order.created"})
    drain()
    untouched = Delivery.objects.get(business_id=other["businessId"]).due_at
    assert advanced(api, record, seconds=10)["became"] == {"deliveries": 0, "erasures": 0, "payments": 0}
    before = timezone.now()
    answer = advanced(api, record, hours=3)
    assert answer["became"] == {"deliveries": 1, "erasures": 0, "payments": 0}
    clock = parse_moment(answer["now"])
    assert clock
    assert abs(clock - before - timedelta(hours=3, seconds=10)) < timedelta(seconds=20)
    while drain():
        pass
    attempts = attempts_of(api, record)
    assert [each["number"] for each in attempts] == [1, 2, 3, 4, 5, 6]
    for seen, wait in zip(offsets(attempts), settings.WEBHOOK_RETRY_DELAYS, strict=True):
        assert wait <= seen <= wait * 1.051
    made = [parse_moment(each["attemptedAt"]) for each in attempts]
    assert all(each and abs(each - timezone.now()) < timedelta(minutes=2) for each in made)
    assert Delivery.objects.get(business_id=record["businessId"]).status == "EXHAUSTED"
    assert Delivery.objects.get(business_id=other["businessId"]).due_at == untouched


def test_attempt_under_way_is_neither_lost_nor_doubled(
    api: Api, path: str, listening: App, receiver: Receiver
) -> None:
    """Its retry is due by the store's clock, which has gone on meanwhile."""
    record = opened(api, path)
    api("post", f"/developer/test-stores/{record['id']}/changes", {"event": "order.created"})
    now = timezone.now()
    (claimed,) = prepare(claim(10, now)).messages
    answer = advanced(api, record, minutes=1)
    assert answer["became"]["deliveries"] == 0
    failed = Exchange(500, {}, b"", False, 5, "http_5xx")
    result = result_of(claimed[0], failed, attempted_at=now, ended_at=timezone.now())
    assert recording.record([result]) == 1
    delivery = Delivery.objects.get()
    assert delivery.status == "RETRYING"
    assert delivery.due_at
    assert delivery.due_at < timezone.now()
    assert drain() == 1
    assert Delivery.objects.get().attempt_count == 2


@pytest.mark.spec(SPEC, "One after the other at one endpoint, by due time")
def test_what_is_due_comes_in_its_order(api: Api, path: str, listening: App, receiver: Receiver) -> None:
    receiver.respond_with(500, 500, 500, 200)
    record = opened(api, path)
    for _ in range(3):
        api("post", f"/developer/test-stores/{record['id']}/changes", {"event": "order.created"})
        drain()
    first = [each.headers["x-webhook-event-uid"] for each in receiver.requests]
    due = list(Delivery.objects.order_by("due_at").values_list("event_id", flat=True))
    advanced(api, record, minutes=2)
    assert len(claim(10, timezone.now())) == 1
    Delivery.objects.update(lease_until=None, leased_by=None)
    while drain():
        pass
    again = [each.headers["x-webhook-event-uid"] for each in receiver.requests[3:]]
    assert again == [str(each) for each in due]
    assert len(first) == 3


@pytest.mark.spec(
    SPEC,
    "erasures, expiring payments, idempotency keys, automatic disabling, breakers; nothing else, nothing of another store",
)
def test_all_that_waits_falls_due(api: Api, path: str, listening: App, receiver: Receiver) -> None:
    hook = factories.hook(listening, "order.validate")
    record, other = opened(api, path, scenario="empty"), opened(api, path, scenario="empty")
    for each in (record, other):
        factories.payment(
            factories.order(Business.objects.get(pk=each["businessId"])),
            expires_at=timezone.now() + timedelta(minutes=15),
        )
        mine = f"/developer/test-stores/{each['id']}"
        api("post", f"{mine}/uninstall")
        KeptAnswer.objects.create(
            owner=f"installation:{each['installationId']}", expires_at=timezone.now() + timedelta(days=1)
        )
        Breaker.objects.create(
            installation_id=each["installationId"],
            definition=hook,
            open_since=timezone.now(),
            open_until=timezone.now() + timedelta(minutes=10),
        )
    answer = advanced(api, record, hours=47)
    assert answer["became"] == {"deliveries": 0, "erasures": 0, "payments": 1}
    assert Breaker.objects.get(installation=record["installationId"]).open_until < timezone.now()  # type: ignore[operator]
    assert Breaker.objects.get(installation=other["installationId"]).open_until > timezone.now()  # type: ignore[operator]
    assert Payment.objects.get(order__business=record["businessId"]).status == "EXPIRED"
    drain()
    assert receiver.requests == []
    assert advanced(api, record, hours=1)["became"]["erasures"] == 1
    drain()
    assert Erasure.objects.get(installation=record["installationId"]).state == "DUE", (
        "Its state follows later."
    )
    assert advanced(api, record, seconds=1)["became"] == {"deliveries": 0, "erasures": 0, "payments": 0}
    (sent,) = receiver.requests
    body = json.loads(sent.body)
    assert (body["event"], body["businessId"]) == ("business.data_erasure", record["businessId"])
    moment = parse_moment(body["timestamp"])
    assert moment
    assert moment <= timezone.now()
    now = timezone.now()
    assert KeptAnswer.objects.get(owner=f"installation:{record['installationId']}").expires_at < now
    assert KeptAnswer.objects.get(owner=f"installation:{other['installationId']}").expires_at > now
    assert Payment.objects.get(order__business=other["businessId"]).status == "PENDING"


@pytest.mark.spec(SPEC, "automatic disabling by the store's clock")
def test_endpoint_that_fails_for_days_is_switched_off(
    api: Api, path: str, listening: App, receiver: Receiver
) -> None:
    receiver.respond_with(500)
    record = opened(api, path)
    for _ in range(4):
        api("post", f"/developer/test-stores/{record['id']}/changes", {"event": "order.created"})
    disabled = []
    for span in ({"hours": 3}, {"hours": 68}, {"hours": 2}):
        advanced(api, record, **span)
        while drain():
            pass
        disabled.append(Webhook.objects.get(pk=record["webhookId"]).disabled_at is not None)
    assert disabled == [False, False, True]


@pytest.mark.parametrize("seconds", [0, -1, 604_801, "60", None])
def test_bad_spans_are_refused(api: Api, path: str, seconds: object) -> None:
    record = opened(api, path, scenario="empty")
    answer = api("post", f"/developer/test-stores/{record['id']}/advance", {"seconds": seconds})
    assert answer.status_code == 400
    assert TestStore.objects.get().ahead == timedelta()


def test_list_of_deliveries_takes_few_statements(
    api: Api, path: str, listening: App, receiver: Receiver, django_assert_max_num_queries: Any
) -> None:
    record = opened(api, path, scenario="empty")
    for _ in range(4):
        api("post", f"/developer/test-stores/{record['id']}/changes", {"event": "order.created"})
    drain()
    address = f"/developer/test-stores/{record['id']}/deliveries"
    with CaptureQueriesContext(connection) as few:
        api("get", f"{address}?limit=1")
    with django_assert_max_num_queries(len(few)):
        assert len(api("get", address).json()["data"]) == 4

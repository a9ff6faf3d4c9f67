"""Listeners of test stores: each store may have its own, so that tests that run side by side don't end each other's."""

import base64
import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models.functions import Now

from accounts.models import Business, User
from common.processes import wakeups
from conformance.tasks import remove_ended_checks
from extensions.hooks.asking import HookCalls
from extensions.models import HookCall
from installations.models import Installation
from marketplace.models import App
from stores.hookpoints import Flow, HookPoint, HookRequest
from tests import factories
from tests.clients import Api, api_of
from tests.webhooks.helpers import drain, wait_until
from webhooks.models import Attempt, Delivery, DispatcherSlot, Webhook
from webhooks.queries import LISTENED_URL

pytestmark = pytest.mark.django_db(transaction=True)
SPEC = "Contract 13 Test stores"


@pytest.fixture(autouse=True)
def _fresh_waiters() -> Iterator[None]:
    wakeups.shared.cache_clear()
    yield
    wakeups.shared.cache_clear()


@pytest.fixture
def app(app: App) -> App:
    """Without a Webhook URL."""
    App.objects.update(webhook_url="", webhook_events=["order.created"], scopes=["read_orders"])
    app.refresh_from_db()
    return app


@pytest.fixture
def path(app: App) -> str:
    return f"/developer/apps/{app.pk}"


def opened(api: Api, path: str) -> dict[str, Any]:
    answer = api("post", f"{path}/test-stores", {"scenario": "empty"})
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def listen(api: Api, path: str, record: dict[str, Any] | None = None) -> dict[str, Any]:
    """Its heartbeat lasts, however slow the machine is."""
    answer = api("post", f"{path}/listener", {"testStoreId": record["id"]} if record else {})
    assert answer.status_code == 201, answer.content
    keep(answer.json()["listenerId"])
    return dict(answer.json())


def keep(slot: str) -> None:
    DispatcherSlot.objects.filter(pk=slot.partition(".")[0]).update(seen_at=Now() + timedelta(hours=1))


def work(api: Api, path: str, listener: dict[str, Any]) -> dict[str, Any]:
    answer = api("post", f"{path}/listener/{listener['listenerId']}/work", {"wait": 0})
    assert answer.status_code == 200, answer.content
    keep(listener["listenerId"])
    return dict(answer.json())


def order(api: Api, record: dict[str, Any]) -> list[dict[str, Any]]:
    """Place one. Returns its event's deliveries."""
    answer = api("post", f"/developer/test-stores/{record['id']}/changes", {"event": "order.created"})
    assert answer.status_code == 200, answer.content
    drain()
    (event,) = [each for step in answer.json()["steps"] for each in step["events"]]
    return list(event["deliveries"])


def shown(api: Api, path: str) -> dict[str, str | None]:
    """The `webhookId` of each store."""
    return {each["id"]: each["webhookId"] for each in api("get", f"{path}/test-stores").json()["data"]}


@pytest.mark.spec(
    "Contract 12 One customer's data",
    "It goes to the Webhook URL whatever webhookEvents say; a listener stands in for it",
)
@pytest.mark.usefixtures("installation")
def test_listener_hears_of_an_erased_customer_although_the_app_names_other_events(
    api: Api, path: str
) -> None:
    record = opened(api, path)
    changes, erasure = f"/developer/test-stores/{record['id']}/changes", {"event": "customer.data_erasure"}

    def erased() -> Any:
        (step,) = api("post", changes, erasure).json()["steps"]
        (event,) = [each for each in step["events"] if each["event"] == "customer.data_erasure"]
        return event["deliveries"]

    assert erased() == []  # without a listener
    listener = listen(api, path, record)
    (sent,) = erased()
    drain()
    handed = work(api, path, listener)["deliveries"]
    assert sent["id"] in {each["id"] for each in handed}


@pytest.mark.long
@pytest.mark.spec(SPEC, "webhookId null where the app has no Webhook URL and no listener runs")
@pytest.mark.usefixtures("installation")
def test_listener_of_the_app_gives_stores_a_webhook(api: Api, path: str) -> None:
    """The store that is open already, and the next one."""
    first = opened(api, path)
    assert (first["webhookId"], order(api, first)) == (None, [])
    listener = listen(api, path)
    second = opened(api, path)
    assert second["webhookId"]
    known = shown(api, path)
    assert known == {first["id"]: known[first["id"]], second["id"]: second["webhookId"]}
    for record in (first, second):
        (sent,) = order(api, record)
        (handed,) = work(api, path, listener)["deliveries"]
        assert (handed["id"], handed["installationId"]) == (sent["id"], record["installationId"])
        assert (handed["url"], handed["headers"]["X-Webhook-Id"]) == (
            LISTENED_URL,
            known[record["id"]],
        )
        answer = {"lease": handed["lease"], "httpStatus": 200, "durationMs": 3}
        api("post", f"{path}/listener/{listener['listenerId']}/answers", {"deliveries": [answer]})
        assert Delivery.objects.get(pk=sent["id"]).status == "SUCCEEDED"


@pytest.mark.usefixtures("installation")
def test_webhook_of_a_listener_is_the_test_stores_alone(
    api: Api, path: str, app: App, installation: Installation, shop: Business
) -> None:
    """Neither the sandbox nor a merchant's store gets one, and it follows the Webhook URL that the app gets later."""
    factories.approve(app)
    merchants = factories.installation(app, shop)
    listen(api, path)
    record = opened(api, path)
    assert not Webhook.objects.filter(installation__in=[installation, merchants]).exists()
    assert api("patch", path, {"webhookUrl": "https://93.184.216.34/hooks"}).status_code == 200
    assert Webhook.objects.get(pk=record["webhookId"]).url == "https://93.184.216.34/hooks"
    assert api("patch", path, {"webhookUrl": ""}).status_code == 200
    assert Webhook.objects.get(pk=record["webhookId"]).url == LISTENED_URL
    assert Webhook.objects.get(installation=installation).lacks_url


@pytest.mark.long
def test_erasure_of_a_store_without_a_url_reaches_the_listener(api: Api, path: str) -> None:
    record = opened(api, path)
    listener = listen(api, path, record)
    assert shown(api, path)[record["id"]]
    mine = f"/developer/test-stores/{record['id']}"
    assert api("post", f"{mine}/uninstall").status_code == 200
    api("post", f"{mine}/advance", {"seconds": 48 * 3600})
    drain()
    (handed,) = work(api, path, listener)["deliveries"]
    assert handed["event"] == "business.data_erasure"


@pytest.mark.long
@pytest.mark.spec(
    SPEC, "A listener of the app serves its test stores, too; each piece of work names the installation"
)
@pytest.mark.usefixtures("installation")
def test_each_store_may_have_its_own(api: Api, path: str, app: App) -> None:
    """The developer's own `listen` goes on, gets what has no other listener, and answers for nothing else."""
    stores = [opened(api, path) for _ in range(3)]
    of_app = listen(api, path)
    own = [listen(api, path, record) for record in stores[:2]]
    sent = [order(api, record)[0]["id"] for record in stores]
    got = [[each["id"] for each in work(api, path, each)["deliveries"]] for each in (*own, of_app)]
    assert got == [[delivery] for delivery in sent]
    stolen = {"lease": f"{sent[0]}:1", "httpStatus": 200, "durationMs": 3}
    for other in (of_app, own[1]):
        where = f"{path}/listener/{other['listenerId']}/answers"
        assert api("post", where, {"deliveries": [stolen]}).json() == {"recorded": 0}
    assert not Attempt.objects.exists()
    assert api("delete", f"{path}/listener/{own[0]['listenerId']}").status_code == 204
    drain()
    assert sent[0] in [each["id"] for each in work(api, path, of_app)["deliveries"]]


@pytest.mark.long
def test_those_of_stores_leave_the_developer_three_of_apps(
    api: Api, path: str, dana: User, sandbox: Business
) -> None:
    for _ in range(8):
        listen(api, path, opened(api, path))
    for number in range(3):
        other = factories.app(dana, slug=f"other-{number}", name=f"Other {number}")
        factories.installation(other, sandbox)
        listen(api, f"/developer/apps/{other.pk}")
    fourth = factories.app(dana, slug="fourth", name="Fourth")
    factories.installation(fourth, sandbox)
    assert api("post", f"/developer/apps/{fourth.pk}/listener", {}).status_code == 429


@pytest.mark.long
@pytest.mark.usefixtures("installation")
def test_replaced_and_ended_are_told_apart_by_store(api: Api, path: str) -> None:
    """A listener that was replaced must not begin again, and one that has ended must, whatever the app's own does."""
    record = opened(api, path)
    first, second = listen(api, path, record), listen(api, path, record)
    replaced = api("post", f"{path}/listener/{first['listenerId']}/work", {"wait": 0})
    assert (replaced.status_code, replaced["X-Error-Code"]) == (409, "listener_replaced")
    listen(api, path)
    assert api("delete", f"{path}/listener/{second['listenerId']}").status_code == 204
    ended = api("post", f"{path}/listener/{second['listenerId']}/answers", {})
    assert (ended.status_code, ended["X-Error-Code"]) == (404, "listener_ended")


def test_strangers_and_other_apps_find_nothing(api: Api, path: str, dana: User, sam: User) -> None:
    record = opened(api, path)
    listener = listen(api, path, record)
    other = f"/developer/apps/{factories.app(dana, slug='other', name='Other').pk}"
    for who, where in ((api_of(sam), path), (api, other)):
        assert who("post", f"{where}/listener", {"testStoreId": record["id"]}).status_code == 404
        assert who("post", f"{where}/listener/{listener['listenerId']}/work", {}).status_code == 404
        assert who("delete", f"{where}/listener/{listener['listenerId']}").status_code == 404
    assert api("post", f"{path}/listener", {"testStoreId": "nonsense"}).status_code == 404
    api("delete", f"/developer/test-stores/{record['id']}")
    assert api("post", f"{path}/listener", {"testStoreId": record["id"]}).status_code == 404


@pytest.mark.long
@pytest.mark.timed
@pytest.mark.usefixtures("installation")
def test_hook_call_goes_to_the_listener_of_its_store(api: Api, path: str, app: App) -> None:
    App.objects.filter(pk=app.pk).update(webhook_url="https://93.184.216.34/hooks")
    factories.hook(app, "checkout.shipping_rates", timeout=8000)
    record, other = opened(api, path), opened(api, path)
    mine, others, of_app = listen(api, path, record), listen(api, path, other), listen(api, path)
    data = {"deliveryMethod": "DELIVERY", "locality": "Almaty", "subtotal": 2500, "builtInFee": 350}
    made: list[Any] = []

    def checkout() -> None:
        try:
            business = Business.objects.get(pk=record["businessId"])
            with HookCalls(HookRequest(HookPoint.SHIPPING_RATES, business, data, Flow.start())) as calls:
                made.extend(call for group in calls.groups() for call in group)
        finally:
            connection.close()

    thread = threading.Thread(target=checkout)
    thread.start()
    found: list[Any] = []
    try:
        wait_until(
            lambda: (
                not any(work(api, path, each)["hookCalls"] for each in (others, of_app))
                and found.extend(work(api, path, mine)["hookCalls"]) is None
                and found
            )
        )
        fee = base64.b64encode(b'{"fee": 120}').decode()
        answer = {"id": found[0]["id"], "httpStatus": 200, "durationMs": 3, "body": fee}
        api("post", f"{path}/listener/{mine['listenerId']}/answers", {"hookCalls": [answer]})
    finally:
        thread.join(15)
    assert made[0].answer == {"fee": 120}
    assert HookCall.objects.get().by_listener


@pytest.mark.long
def test_store_goes_with_its_listener(api: Api, path: str) -> None:
    record = opened(api, path)
    listen(api, path, record)
    order(api, record)
    api("delete", f"/developer/test-stores/{record['id']}")
    remove_ended_checks()
    assert not Business.objects.filter(pk=record["businessId"]).exists()
    assert not DispatcherSlot.objects.filter(person__isnull=False).exists()

"""Listing, changing and deleting webhooks, as an app does."""

from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business
from installations.models import Installation
from installations.services import uninstall
from marketplace.models import App
from tests.clients import client_of
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus, Stage
from webhooks.models import Delivery, Webhook
from webhooks.services.app_defined import follow_app

JSON = "application/json"
URL = "https://127.0.0.1:9/hook"  # nothing listens there
NOBODYS = (uuid4(), "nonsense", "%00")


@pytest.fixture
def webhook(installation: Installation) -> Webhook:
    return helpers.webhook(installation, URL, ["order.created"])


@pytest.fixture
def app_defined(app: App, installation: Installation) -> Webhook:
    app.webhook_url = URL
    app.save()
    follow_app(installations=list(Installation.objects.with_app().filter(pk=installation.pk)))
    return Webhook.objects.get(installation=installation, is_app_defined=True)


def patch(api: Client, webhook: Webhook, **changes: Any) -> Any:
    return api.patch(f"/webhooks/{webhook.id}", changes, content_type=JSON)


@pytest.mark.spec(
    "Contract 5 Webhooks", "GET /webhooks lists all, the inactive ones too, and shows no secret"
)
def test_list_holds_inactive_ones_and_no_deleted_or_foreign_ones(
    api: Client, webhook: Webhook, installation: Installation, elsewhere: Installation
) -> None:
    off = helpers.webhook(installation, URL, ["order.created"], is_active=False)
    helpers.webhook(installation, URL, ["order.created"], deleted_at=timezone.now())
    helpers.webhook(elsewhere, URL, ["order.created"])
    answer = api.get("/webhooks").json()
    assert [record["id"] for record in answer["data"]] == [str(off.id), str(webhook.id)]
    assert [record["isActive"] for record in answer["data"]] == [False, True]
    assert (answer["total"], answer["page"], answer["limit"]) == (2, 1, 50)
    assert all("secret" not in record for record in answer["data"])


def test_list_comes_by_pages(api: Client, installation: Installation) -> None:
    for _ in range(3):
        helpers.webhook(installation, URL, ["order.created"])
    second = api.get("/webhooks?limit=2&page=2").json()
    assert (len(second["data"]), second["total"]) == (1, 3)
    assert api.get("/webhooks?limit=1000").json()["limit"] == 100
    assert api.get("/webhooks?page=0").status_code == 400


@pytest.mark.parametrize("count", [1, 3])
def test_list_takes_the_same_statements_however_many(
    count: int, api: Client, installation: Installation, statements: Any
) -> None:
    for _ in range(count):
        helpers.webhook(installation, URL, ["order.created"])
    with statements() as captured:
        api.get("/webhooks")
    assert len(captured) == 3  # token, rows, total


def test_one_webhook_is_shown_without_its_secret(api: Client, webhook: Webhook) -> None:
    record = api.get(f"/webhooks/{webhook.id}").json()
    assert set(record) == {
        "id", "url", "events", "filter", "description", "isActive", "isAppDefined", "eventsWithoutScope",
        "disabledReason", "disabledAt", "createdAt",
    }  # fmt: skip


@pytest.mark.spec("Errors", "404: absent, or another tenant's")
def test_what_is_not_ones_own_is_not_found(api: Client, elsewhere: Installation, webhook: Webhook) -> None:
    foreign = helpers.webhook(elsewhere, URL, ["order.created"])
    deleted = helpers.webhook(webhook.installation, URL, ["order.created"], deleted_at=timezone.now())
    for webhook_id in (foreign.id, deleted.id, *NOBODYS):
        path = f"/webhooks/{webhook_id}"
        answers = [
            api.get(path),
            api.patch(path, {"isActive": False}, content_type=JSON),
            api.delete(path),
            api.get(f"{path}/deliveries"),
            api.get(f"{path}/deliveries/{uuid4()}"),
            api.post(f"{path}/deliveries/{uuid4()}/redeliver"),
            api.post(f"{path}/recover", {"since": "2026-11-20T00:00:00Z"}, content_type=JSON),
        ]
        assert [answer.status_code for answer in answers] == [404] * 7
        assert {answer.json()["message"] for answer in answers} == {"Webhook not found"}
    foreign.refresh_from_db()
    assert (foreign.is_active, foreign.deleted_at) == (True, None)


@pytest.mark.spec("Errors", "401: no, bad or revoked credential")
def test_token_of_an_ended_installation_opens_nothing(
    api: Client, webhook: Webhook, installation: Installation
) -> None:
    uninstall(installation=installation)
    for answer in (
        api.get("/webhooks"),
        api.get(f"/webhooks/{webhook.id}"),
        patch(api, webhook, isActive=True),
    ):
        assert answer.status_code == 401
        assert answer["WWW-Authenticate"].startswith("Bearer ")
    webhook.refresh_from_db()
    assert not webhook.is_active


# Changing


@pytest.mark.spec("Contract 5 Webhooks", "PATCH changes url, events, description and isActive")
def test_change_of_each_field(api: Client, webhook: Webhook) -> None:
    changes = {
        "url": "https://127.0.0.1:9/other",
        "events": ["review.created", "order.created", "review.created"],
        "description": "Reviews",
        "isActive": False,
    }
    answer = patch(api, webhook, **changes)
    assert answer.status_code == 200
    expected = changes | {"events": ["review.created", "order.created"]}
    assert {name: answer.json()[name] for name in changes} == expected
    again = api.get(f"/webhooks/{webhook.id}").json()
    assert again == answer.json()


def test_change_of_nothing_leaves_everything(api: Client, webhook: Webhook) -> None:
    before = api.get(f"/webhooks/{webhook.id}").json()
    assert patch(api, webhook).json() == before
    assert patch(api, webhook, secret="mine", isAppDefined=True, id="x").json() == before
    secret = webhook.secret
    webhook.refresh_from_db()
    assert webhook.secret == secret


def test_description_can_be_removed(api: Client, webhook: Webhook) -> None:
    patch(api, webhook, description="Something")
    assert patch(api, webhook, description=None).json()["description"] is None


@pytest.mark.parametrize(
    ("changes", "fields"),
    [
        ({"url": "ftp://example.com/"}, ["url"]),
        ({"url": None}, ["url"]),
        ({"events": []}, ["events"]),
        ({"events": ["webhook.test"]}, ["events[0]"]),
        ({"events": ["app.uninstalled"]}, ["events[0]"]),
        ({"isActive": "false"}, ["isActive"]),
        ({"isActive": None}, ["isActive"]),
        ({"url": "https://127.0.0.1:9/#x", "events": ["order.eaten"]}, ["url", "events[0]"]),
    ],
)
def test_wrong_change_is_400_and_changes_nothing(
    api: Client, webhook: Webhook, changes: dict[str, Any], fields: list[str]
) -> None:
    answer = patch(api, webhook, **({"description": "new"} | changes))
    assert answer.status_code == 400
    assert [problem["field"] for problem in answer.json()["details"]] == fields
    webhook.refresh_from_db()
    assert (webhook.url, webhook.events, webhook.description) == (URL, ["order.created"], "")


def test_wrong_body_is_told_before_the_unknown_webhook(api: Client) -> None:
    assert api.patch(f"/webhooks/{uuid4()}", {"isActive": 1}, content_type=JSON).status_code == 400
    assert api.post(f"/webhooks/{uuid4()}/recover", {}, content_type=JSON).status_code == 400


@pytest.mark.spec("Contract 9 Deliveries", "PATCH isActive false turns waiting deliveries into CANCELLED")
def test_switching_off_cancels_what_waits_and_nothing_else(
    api: Client, webhook: Webhook, installation: Installation, sandbox: Business
) -> None:
    other = helpers.webhook(installation, URL, ["order.created"])
    helpers.publish(sandbox)
    patch(api, webhook, isActive=False)
    assert Delivery.objects.get(webhook=webhook).status == DeliveryStatus.CANCELLED
    assert Delivery.objects.get(webhook=other).status == DeliveryStatus.PENDING
    helpers.publish(sandbox)
    assert Delivery.objects.filter(webhook=webhook).count() == 1


@pytest.mark.spec("Contract 9 Deliveries", "The erasure is not cancelled when a webhook is switched off")
def test_switching_off_leaves_the_erasure(api: Client, webhook: Webhook, sandbox: Business) -> None:
    webhook.events = ["business.data_erasure"]
    webhook.save()
    erasure = helpers.published(sandbox, "business.data_erasure")
    patch(api, webhook, isActive=False)
    erasure.refresh_from_db()
    assert (erasure.status, erasure.due_at is None) == (DeliveryStatus.PENDING, False)


@pytest.mark.spec(
    "Contract 9 Deliveries", "PATCH isActive true ends the disabling and sends nothing by itself"
)
def test_switching_on_ends_the_disabling(api: Client, webhook: Webhook, sandbox: Business) -> None:
    now = timezone.now()
    Webhook.objects.filter(pk=webhook.pk).update(
        is_active=False,
        disabled_at=now,
        disabled_reason="It failed.",
        failing_since=now,
        notified_stage=Stage.DISABLED,
    )
    shown = api.get(f"/webhooks/{webhook.id}").json()
    assert (shown["isActive"], shown["disabledReason"]) == (False, "It failed.")
    assert shown["disabledAt"].endswith("Z")
    held = helpers.published(sandbox)
    assert held.status == DeliveryStatus.HELD
    answer = patch(api, webhook, isActive=True).json()
    assert (answer["isActive"], answer["disabledReason"], answer["disabledAt"]) == (True, None, None)
    held.refresh_from_db()
    assert (held.status, held.due_at) == (DeliveryStatus.HELD, None)
    webhook.refresh_from_db()
    assert (webhook.failing_since, webhook.notified_stage) == (None, Stage.WELL)


def test_switching_off_what_is_disabled_goes_on_holding(
    api: Client, webhook: Webhook, sandbox: Business
) -> None:
    Webhook.objects.filter(pk=webhook.pk).update(is_active=False, disabled_at=timezone.now())
    assert patch(api, webhook, isActive=False).json()["disabledAt"] is not None
    assert helpers.published(sandbox).status == DeliveryStatus.HELD


# Deleting


@pytest.mark.spec("Contract 9 Deliveries", "DELETE is 204 and turns waiting deliveries into CANCELLED")
def test_delete_ends_webhook_and_deliveries(api: Client, webhook: Webhook, sandbox: Business) -> None:
    helpers.publish(sandbox)
    held = helpers.published(sandbox)
    Delivery.objects.filter(pk=held.pk).update(status="HELD", due_at=None)
    answer = api.delete(f"/webhooks/{webhook.id}")
    assert (answer.status_code, answer.content) == (204, b"")
    assert api.delete(f"/webhooks/{webhook.id}").status_code == 404
    assert set(Delivery.objects.values_list("status", flat=True)) == {DeliveryStatus.CANCELLED}
    assert api.get("/webhooks").json()["total"] == 0


def test_deleted_ones_make_room(api: Client, installation: Installation) -> None:
    made = [helpers.webhook(installation, URL, ["order.created"]) for _ in range(20)]
    body = {"url": URL, "events": ["order.created"]}
    assert api.post("/webhooks", body, content_type=JSON).status_code == 409
    api.delete(f"/webhooks/{made[0].id}")
    assert api.post("/webhooks", body, content_type=JSON).status_code == 201


# The app-defined webhook


@pytest.mark.spec("Contract 5 Webhooks", "The app-defined webhook can be changed but not deleted (409)")
def test_app_defined_one_is_not_deleted(api: Client, app_defined: Webhook) -> None:
    answer = api.delete(f"/webhooks/{app_defined.id}")
    assert answer.status_code == 409
    assert "can be changed but not deleted" in answer.json()["message"]


@pytest.mark.spec("Contract 5 Webhooks", "Another url for the app-defined webhook is 409")
def test_app_defined_one_keeps_the_apps_url(api: Client, app_defined: Webhook) -> None:
    assert patch(api, app_defined, url="https://127.0.0.1:9/other", description="x").status_code == 409
    app_defined.refresh_from_db()
    assert (app_defined.url, app_defined.description) == (URL, "")
    assert patch(api, app_defined, url="nonsense").status_code == 400
    assert patch(api, app_defined, url=URL).status_code == 200


def test_app_defined_one_takes_the_other_changes(api: Client, app_defined: Webhook, app: App) -> None:
    answer = patch(api, app_defined, events=["review.created"], description="Mine", isActive=False).json()
    assert (answer["isAppDefined"], answer["events"], answer["description"], answer["isActive"]) == (
        True, ["review.created"], "Mine", False,
    )  # fmt: skip
    App.objects.filter(pk=app.pk).update(webhook_events=["order.created"])
    assert api.get(f"/webhooks/{app_defined.id}").json()["events"] == ["review.created"]


@pytest.mark.spec("Contract 5 Webhooks", "The app-defined webhook does not count towards the 20")
def test_app_defined_one_does_not_count(api: Client, app_defined: Webhook) -> None:
    body = {"url": URL, "events": ["order.created"]}
    statuses = [api.post("/webhooks", body, content_type=JSON).status_code for _ in range(21)]
    assert statuses == [201] * 20 + [409]


def test_app_defined_one_is_not_another_tenants(app_defined: Webhook, elsewhere: Installation) -> None:
    assert client_of(elsewhere).get(f"/webhooks/{app_defined.id}").status_code == 404

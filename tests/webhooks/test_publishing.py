"""Which webhooks receive an event, and what is written for it."""

import threading
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from installations.signals import installation_removed
from marketplace.models import App
from stores.services.catalogue.products import create_product
from tests import factories
from tests.webhooks.helpers import publish, published, webhook
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Event, Webhook

URL = "https://app.example.com/hooks"


@pytest.fixture
def listener(installation: Installation) -> Webhook:
    return webhook(installation, URL, ["order.created", "product.created"])


@pytest.mark.spec("Contract 5 Webhooks", "A webhook receives the events that it lists, and no others")
def test_event_that_is_not_named_is_kept_for_the_feed_alone(listener: Webhook, sandbox: Business) -> None:
    assert publish(sandbox, "review.created") == Event.objects.get()
    assert not Delivery.objects.exists()


def test_publish_in_a_store_without_apps_costs_one_statement(
    sandbox: Business, django_assert_num_queries: Any
) -> None:
    with django_assert_num_queries(1):
        assert publish(sandbox) is None


def test_publish_writes_one_event_for_all_webhooks(
    listener: Webhook, installation: Installation, sandbox: Business
) -> None:
    second = webhook(installation, URL, ["order.created"])
    event = publish(sandbox)
    assert event is not None
    told = event.deliveries.values_list("webhook_id", "status")
    assert set(told) == {(listener.id, "PENDING"), (second.id, "PENDING")}


@pytest.mark.spec("Contract 5 Webhooks", "Events of another business are never sent")
def test_publish_in_another_business_is_not_told(listener: Webhook, sam: User) -> None:
    assert publish(Business.objects.sandbox_of(sam)) is None


@pytest.mark.spec("Authorization", "Events are delivered only for scopes the app holds")
def test_publish_needs_the_scope_of_the_event(listener: Webhook, app: App, sandbox: Business) -> None:
    app.scopes = ["read_products"]
    app.save()
    assert publish(sandbox, "order.created") is None
    assert publish(sandbox, "product.created") is not None


@pytest.mark.spec(
    "Contract 5 Webhooks", "An event whose scope is not held is delivered once the scope is held"
)
def test_publish_once_the_scope_is_held(listener: Webhook, app: App, sandbox: Business) -> None:
    app.scopes = []
    app.save()
    assert publish(sandbox) is None
    app.scopes = ["read_orders"]
    app.save()
    assert publish(sandbox) is not None


@pytest.mark.spec("Contract 9 Deliveries", "A webhook that the app switched off gets nothing recorded")
@pytest.mark.parametrize("change", [{"is_active": False}, {"deleted_at": timezone.now()}])
def test_inactive_or_deleted_webhook_gets_no_delivery(
    change: dict[str, Any], listener: Webhook, sandbox: Business
) -> None:
    Webhook.objects.filter(id=listener.id).update(**change)
    publish(sandbox)
    assert not Delivery.objects.exists()


@pytest.mark.parametrize("change", ["suspended_at", "deleted_at"])
def test_publish_to_a_suspended_or_deleted_app_writes_nothing(
    change: str, listener: Webhook, app: App, sandbox: Business
) -> None:
    App.objects.filter(id=app.id).update(**{change: timezone.now()})
    assert publish(sandbox) is None


def test_publish_after_the_uninstall_writes_nothing(
    listener: Webhook, installation: Installation, sandbox: Business
) -> None:
    Installation.objects.filter(id=installation.id).update(uninstalled_at=timezone.now())
    assert publish(sandbox) is None


@pytest.mark.spec("Contract 5 Webhooks", "A change that rolls back sends nothing")
def test_change_that_rolls_back_writes_nothing(listener: Webhook, sandbox: Business) -> None:
    with transaction.atomic():
        create_product(business=sandbox, name="Tea", price=100)
        assert Delivery.objects.count() == 1
        transaction.set_rollback(True)
    assert not Event.objects.exists()
    assert not Delivery.objects.exists()


@pytest.mark.long
@pytest.mark.postgres
def test_publish_takes_the_same_statements_for_one_and_for_a_thousand_webhooks(
    listener: Webhook, installation: Installation, sandbox: Business
) -> None:
    def statements() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            publish(sandbox)
        return len([query for query in captured if "SAVEPOINT" not in query["sql"]])

    for_one = statements()
    Webhook.objects.bulk_create(
        Webhook(installation=installation, url=URL, secret="whsec_x", events=["order.created"])
        for _ in range(999)
    )
    assert (for_one, statements()) == (2, 2)
    assert Delivery.objects.count() == 1001
    # PostgreSQL has made the ids, by the rule that promises one delivery for each event and webhook.
    assert all(delivery.id == delivery.find_id() for delivery in Delivery.objects.all())


@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.timed
def test_events_of_a_store_with_a_paused_app_do_not_wait_for_each_other(
    listener: Webhook, installation: Installation, sandbox: Business
) -> None:
    """Or a checkout and an edit of a product, which take their other locks in another order, could block each other."""
    Installation.objects.update(paused_at=timezone.now())

    def publish_another() -> None:
        publish(sandbox)
        connection.close()

    with transaction.atomic():
        publish(sandbox)
        thread = threading.Thread(target=publish_another)
        thread.start()
        thread.join(timeout=5)
        assert set(Delivery.objects.values_list("status", "held_reason")) == {("HELD", "paused")}
        assert Delivery.objects.count() == 2
    thread.join()


@pytest.mark.long
@pytest.mark.parametrize("apps", [1, 20])
def test_event_without_webhooks_takes_as_many_statements_for_many_apps(
    dana: User, shop: Business, django_assert_num_queries: Any, apps: int
) -> None:
    for _ in range(apps):
        app = factories.app(dana, scopes=["read_orders"])
        factories.approve(app)
        factories.installation(app, shop)
    together = connection.vendor == "postgresql"  # the event and its deliveries
    with django_assert_num_queries(2 if together else 3):
        assert publish(shop) is not None


@pytest.mark.spec("States/Installation", "An uninstall deactivates the installation's webhooks")
@pytest.mark.spec("Contract 9 Deliveries", "An uninstall turns waiting deliveries into CANCELLED")
def test_uninstall_switches_webhooks_off_and_cancels_what_waits(
    listener: Webhook, installation: Installation, sandbox: Business, app: App, shop: Business
) -> None:
    elsewhere = webhook(factories.installation(app, shop, is_test=True), URL, ["order.created"])
    delivered = published(sandbox)
    Delivery.objects.filter(id=delivered.id).update(status="SUCCEEDED", due_at=None)
    waiting = published(sandbox)
    fence = waiting.fence
    now = timezone.now()

    installation.uninstalled_at = now
    installation.save()
    installation_removed.send(sender=Installation, installation=installation, now=now)

    waiting.refresh_from_db()
    assert (waiting.status, waiting.due_at, waiting.finished_at) == (DeliveryStatus.CANCELLED, None, now)
    assert waiting.fence > fence
    delivered.refresh_from_db()
    assert delivered.status == DeliveryStatus.SUCCEEDED
    listener.refresh_from_db()
    elsewhere.refresh_from_db()
    assert (listener.is_active, elsewhere.is_active) == (False, True)

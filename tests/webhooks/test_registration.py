"""Registering webhooks, and how they look on the wire."""

import base64
import threading
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from common.errors import Conflict, Invalid, NotFound
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.webhooks.helpers import webhook
from webhooks.models import Webhook
from webhooks.queries import webhook_of
from webhooks.serializers import webhook_payload
from webhooks.services.registration import MAX_WEBHOOKS, create_webhook

URL = "https://93.184.215.14/hooks"  # an address needs no look-up


def create(installation: Installation, **fields: Any) -> tuple[Webhook, str]:
    return create_webhook(installation=installation, **{"url": URL, "events": ["order.created"], **fields})


@pytest.mark.spec("Contract 5 Webhooks", "Webhooks of test installs have whsec_test_ secrets")
@pytest.mark.parametrize(("is_test", "prefix"), [(True, "whsec_test_"), (False, "whsec_")])
def test_create_gives_a_secret_of_its_own(is_test: bool, prefix: str, installation: Installation) -> None:
    Installation.objects.filter(id=installation.id).update(is_test=is_test)
    made, secret = create(installation)
    assert secret.startswith(prefix)
    assert len(base64.b64decode(secret.removeprefix(prefix), validate=True)) == 32
    assert Webhook.objects.get(id=made.id).secret == secret
    assert secret != create(installation)[1]


def test_create_counts_a_repeated_event_once(installation: Installation) -> None:
    made, _ = create(installation, events=["order.created", "product.created", "order.created"])
    assert made.events == ["order.created", "product.created"]


@pytest.mark.spec("Contract 5 Webhooks", "An unknown event is refused; the path names it")
@pytest.mark.parametrize("name", ["order.exploded", "webhook.test", "app.uninstalled", ""])
def test_create_with_an_event_that_cannot_be_named_is_invalid(name: str, installation: Installation) -> None:
    with pytest.raises(Invalid) as caught:
        create(installation, events=["order.created", name])
    assert [detail["field"] for detail in caught.value.details] == ["events[1]"]
    assert not Webhook.objects.exists()


def test_create_without_events_is_invalid(installation: Installation) -> None:
    with pytest.raises(Invalid) as caught:
        create(installation, events=[])
    assert caught.value.details[0]["field"] == "events"


def test_create_names_all_problems_at_once(installation: Installation) -> None:
    with pytest.raises(Invalid) as caught:
        create(installation, url="ftp://example.com", events=["nope"])
    assert [detail["field"] for detail in caught.value.details] == ["url", "events[0]"]


@pytest.mark.spec(
    "Contract 5 Webhooks", "A destination that is not global unicast is refused at registration"
)
@pytest.mark.parametrize("url", ["https://10.0.0.1/", "https://user@example.com/", "https://example.com/#x"])
def test_create_with_a_refused_url_is_invalid(url: str, installation: Installation) -> None:
    with pytest.raises(Invalid) as caught:
        create(installation, url=url)
    assert caught.value.details[0]["field"] == "url"


@pytest.mark.spec("Contract 5 Webhooks", "business.data_erasure may be named")
def test_create_for_data_erasure(installation: Installation) -> None:
    assert create(installation, events=["business.data_erasure"])[0].events == ["business.data_erasure"]


@pytest.mark.spec("Contract 9 Deliveries", "The 21st webhook is 409; the app-defined one does not count")
def test_create_the_twenty_first_webhook_is_a_conflict(installation: Installation) -> None:
    webhook(installation, URL, ["order.created"], is_app_defined=True)
    webhook(installation, URL, ["order.created"], deleted_at=timezone.now())
    for _ in range(MAX_WEBHOOKS):
        create(installation)
    with pytest.raises(Conflict):
        create(installation)


def test_create_after_the_uninstall_is_a_conflict(installation: Installation) -> None:
    Installation.objects.filter(id=installation.id).update(uninstalled_at=timezone.now())
    with pytest.raises(Conflict):
        create(installation)


@pytest.mark.django_db(transaction=True)
def test_create_at_the_same_moment_stays_within_the_limit(installation: Installation) -> None:
    for _ in range(MAX_WEBHOOKS - 1):
        webhook(installation, URL, ["order.created"])
    refused = []

    def register() -> None:
        try:
            create(installation)
        except Conflict as conflict:
            refused.append(conflict)
        finally:
            connection.close()

    threads = [threading.Thread(target=register) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (Webhook.objects.count(), len(refused)) == (MAX_WEBHOOKS, 5)


@pytest.mark.spec("Contract 0 Conventions", "Another tenant's webhook is not found")
def test_webhook_of_another_installation_is_not_found(installation: Installation, sam: User) -> None:
    theirs = factories.installation(factories.app(sam), sam.businesses.get())
    foreign = webhook(theirs, URL, ["order.created"])
    deleted = webhook(installation, URL, ["order.created"], deleted_at=timezone.now())
    mine = webhook(installation, URL, ["order.created"])
    assert webhook_of(installation, str(mine.id)) == mine
    for unknown in (foreign.id, deleted.id, "no-id", "", None):
        with pytest.raises(NotFound):
            webhook_of(installation, unknown)


@pytest.mark.spec("Contract 5 Webhooks", "A webhook on the wire has the named fields and never the secret")
def test_record_of_a_fresh_webhook(installation: Installation, app: App) -> None:
    app.scopes = ["read_products"]
    app.save()
    made, secret = create(installation, events=["order.created", "product.created"])
    record = webhook_payload(made, Installation.objects.with_app().get(id=installation.id))
    assert record == {
        "id": str(made.id),
        "url": URL,
        "events": ["order.created", "product.created"],
        "filter": None,
        "description": None,
        "isActive": True,
        "isAppDefined": False,
        "eventsWithoutScope": ["order.created"],
        "disabledReason": None,
        "disabledAt": None,
        "createdAt": record["createdAt"],
    }
    assert secret not in str(record)

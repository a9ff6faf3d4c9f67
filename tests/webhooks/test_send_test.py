"""The test call."""

import socket

import orjson
import pytest
from django.db import transaction

from tests.receivers import Receiver
from tests.webhooks.helpers import drain, is_signed
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery, Event, Webhook
from webhooks.services.sandbox.testing import send_test


@pytest.mark.spec("Contract 5 Webhooks", "The test call sends webhook.test now and returns its outcome")
def test_send_test_reports_a_success(webhook: Webhook, receiver: Receiver) -> None:
    result = send_test(webhook=webhook)
    (request,) = receiver.wait_for(1)
    assert (result.success, result.http_status, result.error) == (True, 200, None)
    assert request.headers["x-service-event-id"] == str(result.event_id)
    assert request.headers["x-webhook-event"] == "webhook.test"
    assert orjson.loads(request.body)["data"]["webhookId"] == str(webhook.id)
    assert is_signed(request, webhook.secret)


@pytest.mark.spec("Contract 5 Webhooks", "The test call is sent once, without a retry")
def test_send_test_that_fails_is_recorded_and_never_sent_again(
    delivering: None, webhook: Webhook, receiver: Receiver
) -> None:
    receiver.respond_with(503)
    result = send_test(webhook=webhook)
    assert (result.success, result.http_status, result.error) == (False, 503, "http_5xx")
    delivery = Delivery.objects.get(id=result.event_id)
    assert (delivery.status, delivery.due_at) == (DeliveryStatus.EXHAUSTED, None)
    attempt = delivery.attempts.get()
    assert (attempt.number, attempt.http_status, attempt.error_class) == (1, 503, "http_5xx")
    assert drain() == 0
    assert len(receiver.requests) == 1


def test_send_test_to_a_dead_endpoint_names_the_class(webhook: Webhook) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        webhook.url = f"http://127.0.0.1:{free.getsockname()[1]}/"
    result = send_test(webhook=webhook)
    assert (result.success, result.http_status, result.error) == (False, None, "refused")


@pytest.mark.spec("Contract 9 Deliveries", "The test call works on an inactive webhook and changes nothing")
def test_send_test_works_on_an_inactive_webhook(webhook: Webhook, receiver: Receiver) -> None:
    Webhook.objects.filter(id=webhook.id).update(is_active=False)
    before = Webhook.objects.values().get(id=webhook.id)
    assert send_test(webhook=webhook).success
    assert Webhook.objects.values().get(id=webhook.id) == before


@pytest.mark.django_db(transaction=True)
def test_send_test_inside_a_transaction_is_refused(webhook: Webhook, receiver: Receiver) -> None:
    with transaction.atomic(), pytest.raises(RuntimeError):
        send_test(webhook=webhook)
    assert receiver.requests == []


def test_send_test_leaves_nothing_behind_while_it_waits(
    webhook: Webhook, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies in the middle must leave no row that the dispatcher would send."""

    class Died(BaseException):
        pass

    def die(*args: object, **options: object) -> None:
        raise Died

    monkeypatch.setattr("common.http.transport.send", die)
    with pytest.raises(Died):
        send_test(webhook=webhook)
    assert not Event.objects.exists()
    assert not Attempt.objects.exists()

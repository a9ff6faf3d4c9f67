"""A worker whose clock is wrong (scenario 17)."""

import time

import pytest
from django.utils import timezone

from accounts.models import Business
from tests.faults.processes import Processes
from tests.faults.servers import Redis
from tests.receivers import Receiver
from tests.webhooks.helpers import is_signed, published, wait_until
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

RETRY = 5  # seconds
WINDOW = 300  # seconds that a receiver allows a signature to be off


@pytest.mark.fault(17, "comparison of the clocks")
@pytest.mark.parametrize("ahead", [600, -600])
def test_worker_with_a_wrong_clock_says_so_and_keeps_the_schedule(
    ahead: int, processes: Processes, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    receiver.respond_with(500, 200)
    delivery = published(sandbox)
    worker = processes.deliver(FAULT_CLOCK=str(ahead), WEBHOOK_RETRY_DELAYS=str(RETRY))
    receiver.wait_for(1, timeout=30)
    wait_until(Attempt.objects.exists)
    delivery.refresh_from_db()
    assert delivery.due_at is not None
    assert 0 < (delivery.due_at - timezone.now()).total_seconds() < RETRY * 1.05

    first, second = receiver.wait_for(2, timeout=RETRY + 30)
    assert RETRY <= second.at - first.at < RETRY * 1.05 + 20
    worker.wait_for_output("The clocks of this machine and of the database differ by", timeout=60)
    for request in (first, second):
        assert is_signed(request, webhook.secret)
        off = int(request.headers["x-webhook-timestamp"]) - (time.time() - time.monotonic() + request.at)
        assert abs(off - ahead) < 30
        assert abs(off) > WINDOW, "Its receivers refuse it, and so the mistake is seen."
    wait_until(lambda: Attempt.objects.filter(delivery__status=DeliveryStatus.SUCCEEDED).count() == 2)


@pytest.mark.fault(17, "life of periodic tasks")
def test_worker_whose_clock_is_ahead_of_the_schedulers_says_so_and_delivers(
    own_redis: Redis, processes: Processes, webhook: Webhook, receiver: Receiver, sandbox: Business
) -> None:
    processes.beat()
    worker = processes.worker(FAULT_CLOCK="20")
    published(sandbox)
    receiver.wait_for(1, timeout=60)
    worker.wait_for_output("config.W010")


@pytest.mark.fault(17)
def test_worker_that_gets_every_task_too_late_says_so(own_redis: Redis, processes: Processes) -> None:
    processes.beat()
    worker = processes.worker(FAULT_CLOCK="600")
    worker.wait_for_output("tasks in a row had expired", timeout=90)
    assert "config.W010" in worker.output

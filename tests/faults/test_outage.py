"""Our own network fails for a while, with much waiting (scenario 16)."""

import statistics
import time
from collections import defaultdict

import pytest

from accounts.models import Business
from installations.models import Installation
from tests.faults.deliveries import all_delivered, at, ids
from tests.faults.processes import Processes
from tests.receivers import Answer, ReceivedRequest, Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import publish, wait_until
from webhooks.engine.claim_selection import FAST
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Delivery

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

HOSTS = 10
ANYWHERE = "0.0.0.0"  # noqa: S104
# Seconds that an answer takes once they are back. A faster endpoint may get more than its share while little else is under way.
TAKES = 1.2 * FAST.total_seconds()
CANARIES = 3
CAP = 16  # attempts that an endpoint gets at once


def most_at_once(requests: list[ReceivedRequest]) -> int:
    """How many of them, at most, were being answered at the same time."""
    times = sorted(request.at for request in requests)
    return max(sum(moment - TAKES < other <= moment for other in times) for moment in times)


@pytest.mark.fault(16, "guard against our own outage")
def test_outage_of_our_own_spends_no_attempts_and_ends_with_a_ramp(
    processes: Processes, installation: Installation, sandbox: Business
) -> None:
    with Receiver(host=ANYWHERE) as sink:
        port = sink.port
        for number in range(1, HOSTS + 1):
            helpers.webhook(installation, at(sink.url, f"127.0.0.{number}"), ["order.created"])
        publish(sandbox)
        processes.deliver(WEBHOOK_RETRY_DELAYS="2,2")
        wait_until(all_delivered, timeout=30)
    began = time.monotonic()
    for _ in range(150):
        publish(sandbox)
    while time.monotonic() < began + 10:
        assert not Delivery.objects.filter(status=DeliveryStatus.EXHAUSTED).exists()
        time.sleep(0.5)
    assert Attempt.objects.exclude(error_class="").count() < 5 * HOSTS

    with Receiver(host=ANYWHERE, port=port) as sink, Receiver(host=f"127.0.0.{HOSTS + 1}") as other:
        sink.respond_with(Answer(delay=TAKES))
        helpers.webhook(installation, other.url, ["review.created"])
        sink.wait_for(200, timeout=30)  # the ramp is under way
        committed = {}
        for _ in range(40):
            event = publish(sandbox, "review.created")
            assert event is not None
            committed[str(event.deliveries.get().id)] = time.monotonic()
            time.sleep(0.05)
        fresh = other.wait_for(len(committed))
        late = [request.at - committed[request.headers["x-service-event-id"]] for request in fresh]
        assert statistics.quantiles(late, n=100)[98] < 1
        wait_until(all_delivered, timeout=60)
        requests = list(sink.requests)
    assert set(ids(requests).values()) == {1}
    assert len(requests) == 150 * HOSTS
    at_first = [request for request in requests if request.at < requests[0].at + TAKES]
    assert len(at_first) <= CANARIES
    by_endpoint = defaultdict(list)
    for request in requests:
        by_endpoint[request.headers["x-webhook-id"]].append(request)
    assert max(map(most_at_once, by_endpoint.values())) <= CAP
    assert most_at_once(requests) > 2 * CANARIES

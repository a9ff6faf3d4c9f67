"""Endpoints that never answer, beside endpoints that do (scenarios 10 and 23)."""

import statistics
import time
from datetime import timedelta

import pytest
import requests
from django.utils import timezone

from accounts.models import Business
from installations.models import Installation
from tests.faults.deliveries import wait_for_web
from tests.faults.processes import Processes
from tests.ports import free_port
from tests.receivers import Answer, Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import publish, wait_until
from webhooks.engine import slots
from webhooks.models import Attempt

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

ENDPOINTS = 20
BACKLOG = 2000  # deliveries that wait for the endpoints that hang
FRESH = 100  # events for the others


@pytest.mark.fault(10, "shares of an endpoint")
@pytest.mark.parametrize("hanging", [2, 6, 10])
def test_endpoints_that_hang_hold_up_no_other(
    hanging: int, processes: Processes, installation: Installation, sandbox: Business
) -> None:
    with Receiver() as silent, Receiver() as sound:
        silent.respond_with(Answer(delay=30))
        dead = [helpers.webhook(installation, f"{silent.url}{n}", ["order.created"]) for n in range(hanging)]
        helpers.prove(*dead)  # so that the share of their host doesn't hold them back
        for number in range(ENDPOINTS - hanging):
            helpers.webhook(installation, f"{sound.url}{number}", ["review.created"])
        for _ in range(BACKLOG // hanging):
            publish(sandbox)
        processes.deliver()
        silent.wait_for(hanging, timeout=30)
        time.sleep(0.5)

        committed: dict[str, float] = {}
        for _ in range(FRESH):
            event = publish(sandbox, "review.created")
            assert event is not None
            now = time.monotonic()
            committed |= {str(id_): now for id_ in event.deliveries.values_list("id", flat=True)}
            time.sleep(0.05)
        arrived = sound.wait_for(len(committed), timeout=20)
        lateness = [request.at - committed[request.headers["x-service-event-id"]] for request in arrived]
        assert statistics.quantiles(lateness, n=100)[98] < 0.5
        hung = Attempt.objects.filter(error_class="timeout_response")
        wait_until(lambda: hung.count() >= hanging, timeout=20)
    for took in hung.values_list("duration_ms", flat=True):
        assert 10_000 <= took <= 10_500


@pytest.mark.fault(23, "alarm by the rule of a claim")
def test_deliveries_that_wait_for_an_endpoint_that_hangs_raise_no_alarm(
    processes: Processes, installation: Installation, sandbox: Business
) -> None:
    port = free_port()
    processes.web(port)
    wait_for_web(port)
    with Receiver() as silent:
        silent.respond_with(Answer(delay=30))
        helpers.webhook(installation, silent.url, ["order.created"])
        processes.deliver()
        wait_until(lambda: slots.claiming().exists(), timeout=30)
        for _ in range(50):
            publish(sandbox, now=timezone.now() - timedelta(minutes=2))
        silent.wait_for(8)
        time.sleep(1)
        states = set()
        for _ in range(24):  # meanwhile the first attempts are given up
            states.add(requests.get(f"http://127.0.0.1:{port}/readyz", timeout=5).json()["deliveries"])
            time.sleep(0.5)
    assert Attempt.objects.exists()
    assert states == {"ok"}

"""Apps that misbehave while a checkout waits for them (scenario 20), with the real budget."""

import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.db import connection

from accounts.models import Business, User
from extensions.models import Breaker, Definition, HookCall
from installations.models import Installation
from tests import factories
from tests.faults.processes import Processes
from tests.faults.till import Till, serve
from tests.receivers import Answer, Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import publish

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

HANGS = Answer(delay=60)
MISBEHAVIOUR = {
    "an error": Answer(status=500),
    "no JSON": Answer(body=b"<html>"),
    "a wrong fee": Answer(body=b'{"fee": -1}'),
    "too much": Answer(body=b'{"fee": 1, "padding": "' + b"x" * 100_000 + b'"}'),
}


class Apps:
    """Apps that answer the hooks of a store."""

    def __init__(self, stack: ExitStack, dana: User, shop: Business) -> None:
        self._stack, self._dana, self._shop = stack, dana, shop

    def add(self, point: str, answer: Answer, **content: Any) -> tuple[Definition, Receiver]:
        receiver = self._stack.enter_context(Receiver())
        receiver.respond_with(answer)
        app = factories.app(self._dana, webhook_url=receiver.url)
        factories.installation(app, self._shop)
        return factories.hook(app, point, **content), receiver


@contextmanager
def fresh_events(sandbox: Business, receiver: Receiver) -> Iterator[list[float]]:
    """Events all the while, to a webhook of the same shop; afterwards how late each was, in seconds."""
    over, late = threading.Event(), []
    committed: dict[str, float] = {}

    def cause() -> None:
        while not over.wait(0.1):
            event = publish(sandbox, "review.created")
            assert event is not None
            committed[str(event.deliveries.get().pk)] = time.monotonic()
        connection.close()

    with ThreadPoolExecutor(1) as thread:
        causing = thread.submit(cause)
        yield late
        over.set()
        causing.result()
    arrived = receiver.wait_for(len(committed), timeout=20)
    late.extend(request.at - committed[request.headers["x-service-event-id"]] for request in arrived)


@pytest.mark.fault(20, "budget of a flow's hooks", "breaker of a hook", "check of an answer")
def test_apps_that_misbehave_hold_up_a_checkout_for_ten_seconds_at_most(
    processes: Processes, installation: Installation, dana: User, sandbox: Business
) -> None:
    with ExitStack() as stack, Receiver() as listener:
        apps = Apps(stack, dana, sandbox)
        helpers.webhook(installation, listener.url, ["review.created"])
        till = Till(serve(processes), installation)

        apps.add("checkout.shipping_rates", Answer(body=b'{"fee": 120}'), priority=1)
        for answer in MISBEHAVIOUR.values():
            apps.add("checkout.shipping_rates", answer, priority=2)
        order, _ = till.order()
        assert order["deliveryFee"] == 1.2, "The fee of the well-behaved app counts."
        assert set(HookCall.objects.values_list("outcome", flat=True)) == {
            "ANSWERED", "HTTP_ERROR", "NOT_JSON", "UNEXPECTED",
        }  # fmt: skip

        hanging = [apps.add("order.validate", HANGS, timeout=2600, priority=number)[0] for number in range(5)]
        with fresh_events(sandbox, listener) as late:
            order, took = till.order()
        assert 10.0 <= took <= 10.8
        assert order["validation"] == "NOT_VALIDATED"
        assert statistics.quantiles(late, n=100)[98] < 0.5
        Definition.objects.filter(pk__in=[each.pk for each in hanging]).update(is_active=False)

        slow, receiver = apps.add("order.calculate_discounts", HANGS, timeout=400)
        took = [till.order()[1] for _ in range(7)]
        assert len(receiver.requests) == 5
        assert min(took[:5]) >= 0.4 > max(took[5:])
        assert Breaker.objects.get(definition=slow).open_until

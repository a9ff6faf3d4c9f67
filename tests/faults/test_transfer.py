"""An app changes hands under load: calls, orders and deliveries go on, and nothing is sent twice."""

import time
from collections import Counter

import pytest
import requests

from accounts.models import Business, User
from installations.models import Installation
from marketplace.models import App
from marketplace.services import members
from tests import factories
from tests.faults.deliveries import all_delivered, ids, wait_for_web
from tests.faults.load import CUSTOMERS, load
from tests.faults.processes import Processes
from tests.ports import free_port
from tests.receivers import Receiver
from tests.webhooks.helpers import wait_until
from webhooks.models import Delivery, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

TRANSFERS = 10
CALLS = 4  # after each


@pytest.mark.fault(45)
@pytest.mark.spec(
    "Contract 11 Members", "While an app is transferred, no call fails and no delivery is lost or doubled"
)
def test_transfer_under_load_fails_nothing(
    processes: Processes, webhook: Webhook, receiver: Receiver, sandbox: Business, dana: User
) -> None:
    installation: Installation = webhook.installation
    app: App = installation.app
    sam = factories.developer("sam@example.com", name="Sam")
    factories.member(app, sam)
    factories.approve(app)
    theirs = factories.installation(app, factories.merchant("mira@example.com").businesses.get())
    port, answers = free_port(), Counter[int]()
    processes.web(port)
    processes.deliver()
    wait_for_web(port)
    url, token = f"http://127.0.0.1:{port}", {"Authorization": f"Bearer {theirs.raw_token}"}
    with load(url, sandbox) as orders:
        owners = [dana, sam]
        for _ in range(TRANSFERS):
            owner, other = owners
            members.offer_transfer(app=app, by=owner, email=other.email)
            members.accept_transfer(app=app, by=other)
            for _ in range(CALLS):
                answers[requests.get(f"{url}/app-api/products", headers=token, timeout=10).status_code] += 1
            owners.reverse()
            time.sleep(0.5)
    placed = orders.statuses.total()
    assert orders.statuses == {201: placed}
    assert placed > 5 * CUSTOMERS
    assert answers == {200: TRANSFERS * CALLS}
    receiver.wait_for(placed, timeout=30)
    wait_until(all_delivered, timeout=30)
    assert Delivery.objects.count() == placed
    assert set(ids(receiver.requests).values()) == {1}
    assert App.objects.get(pk=app.pk).developer == dana

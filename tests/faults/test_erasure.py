"""The data erasure after an uninstall, to endpoints that fail (scenario 18)."""

import time
from datetime import timedelta

import orjson
import pytest
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from installations.services.lifecycle import uninstall
from tests import factories
from tests.faults.processes import Processes
from tests.faults.servers import Redis
from tests.receivers import Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import is_signed, wait_until
from webhooks.enums import ErasureState
from webhooks.models import Erasure, Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]


def installed_for(dana: User, sandbox: Business, **fields: str) -> Installation:
    """An app of Dana's, freshly installed."""
    return factories.installation(factories.app(dana, **fields), sandbox)


@pytest.mark.fault(18, "erasure after the end", "alarm of an overdue erasure")
def test_erasure_goes_out_after_the_uninstall_and_its_failure_is_told(
    own_redis: Redis, processes: Processes, dana: User, sandbox: Business
) -> None:
    with Receiver() as reluctant, Receiver() as dead:
        reluctant.respond_with(*[500] * 5, 200)
        dead.respond_with(500)
        confirming = installed_for(dana, sandbox, webhook_url=reluctant.url)
        failing = installed_for(dana, sandbox, webhook_url=dead.url)
        secrets = [each.webhook_secret for each in (confirming, failing)]
        for installation in (confirming, failing):
            helpers.webhook(installation, f"{dead.url}other", ["order.created"])
            uninstall(installation=installation, now=timezone.now() - timedelta(hours=48, seconds=-6))
        due = time.monotonic() + 6
        processes.use(WEBHOOK_RETRY_DELAYS="1,1,1,1,1", ADMINS="ops@example.com", EMAIL_URL="consolemail://")
        worker, _ = processes.worker(), processes.beat()
        requests = [receiver.wait_for(6, timeout=40) for receiver in (reluctant, dead)]
        wait_until(lambda: Erasure.objects.get(installation=failing).state == ErasureState.OVERDUE, 30)
        wait_until(lambda: Erasure.objects.get(installation=confirming).state == ErasureState.CONFIRMED, 30)
        worker.wait_for_output("To: ops@example.com")
        assert len(reluctant.requests) == len(dead.requests) == 6
    for secret, sent in zip(secrets, requests, strict=True):
        assert sent[0].at >= due - 0.1
        assert len({request.headers["x-service-event-id"] for request in sent}) == 1
        assert all(is_signed(request, secret) for request in sent)
        assert orjson.loads(sent[0].body)["event"] == "business.data_erasure"
    assert not Webhook.objects.filter(is_active=True).exists()

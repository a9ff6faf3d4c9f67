"""A webhook of Dana's app that points at a real receiver on this machine."""

from collections.abc import Iterator

import pytest

from installations.models import Installation
from tests.receivers import Receiver
from tests.webhooks import helpers
from webhooks.models import Webhook


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def webhook(installation: Installation, receiver: Receiver) -> Webhook:
    """Registered for order.created, at `receiver`."""
    return helpers.webhook(installation, receiver.url, ["order.created"])

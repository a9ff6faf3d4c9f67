"""Dana's app is installed on her sandbox, and its webhooks point at a real receiver on this machine."""

from collections.abc import Iterator

import pytest

from installations.models import Installation
from tests.faults.deliveries import Listen
from tests.faults.processes import Processes
from tests.faults.servers import Postgres, Redis, in_database_of
from tests.faults.starting import processes as processes
from tests.receivers import Receiver
from tests.webhooks import helpers
from webhooks.models import Webhook


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def listen(installation: Installation) -> Listen:
    """Register webhooks for order.created, each an endpoint of its own: `listen(receiver.url, 20)`."""

    def register(url: str, count: int = 1) -> list[Webhook]:
        made = [helpers.webhook(installation, f"{url}{number}", ["order.created"]) for number in range(count)]
        helpers.prove(*made)
        return made

    return register


@pytest.fixture
def webhook(listen: Listen, receiver: Receiver) -> Webhook:
    return listen(receiver.url)[0]


@pytest.fixture
def own_redis(processes: Processes) -> Iterator[Redis]:
    """A Redis for the test's processes, as cache and broker."""
    with Redis() as server:
        processes.use(REDIS_URL=server.url, CELERY_BROKER_URL=server.url)
        yield server
        processes.end()


@pytest.fixture
def own_postgres(transactional_db: None) -> Iterator[Postgres]:
    """A PostgreSQL for the test and its processes. To be asked for before anything that writes rows."""
    with Postgres() as server, in_database_of(server):
        yield server

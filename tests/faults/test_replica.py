"""Reports from a real streaming replica, which stops following and dies."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from accounts.models import Business, User
from common.db import replica
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.faults.servers import Postgres, Standby
from tests.webhooks import helpers
from tests.webhooks.helpers import wait_until
from webhooks.insight.analytics import analytics
from webhooks.models import Webhook

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.postgres,
    pytest.mark.slow,
    pytest.mark.timed,
]


@pytest.fixture
def standby(own_postgres: Postgres, settings: Any) -> Iterator[Standby]:
    """A replica of the test's database, as `DATABASE_REPLICA_URL` sets it up."""
    with Standby(own_postgres) as follower:
        ours = connections["default"].settings_dict
        connections.databases["replica"] = ours | {"PORT": follower.port}
        settings.DATABASE_ROUTERS = ["common.db.replica.Router"]
        replica.follows.forget()
        connections["replica"].connect()  # a test may not open connections that weren't there when it began
        try:
            yield follower
        finally:
            connections["replica"].close()
            del connections.databases["replica"], connections["replica"]
            replica.follows.forget()


def test_reports_read_the_replica_as_long_as_it_follows(
    standby: Standby, app: App, shop: Business, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One test, since a database of its own takes long to make."""
    first = factories.installation(app, shop, is_test=False)
    known = helpers.webhook(first, "https://known.example.com/", ["order.created"])
    client.force_login(User.objects.create_superuser("ops@example.com", "correct horse battery"))
    wait_until(lambda: Webhook.objects.using("replica").filter(pk=known.pk).exists())
    assert analytics(app).total_installs == 1

    standby.connect().execute("SELECT pg_wal_replay_pause()")
    other = factories.business(factories.merchant("max@example.com"))
    second = factories.installation(app, other, is_test=False)
    new = helpers.webhook(second, "https://new.example.com/", ["order.created"])
    monkeypatch.setattr(replica, "LONGEST_LAG", 600.0)
    assert Installation.objects.filter(pk=second.pk).exists(), (
        "What was written is read where it was written."
    )
    assert analytics(app).total_installs == 1, "The replica doesn't know of the second."
    listed = client.get("/admin/webhooks/webhook/").text
    assert (known.url in listed, new.url in listed) == (True, False)
    assert new.url in client.get(f"/admin/webhooks/webhook/{new.pk}/change/").text

    monkeypatch.setattr(replica, "LONGEST_LAG", 0.0)
    replica.follows.forget()
    assert analytics(app).total_installs == 2, "A replica without news is not asked."

    monkeypatch.setattr(replica, "LONGEST_LAG", 600.0)
    replica.follows.forget()
    assert analytics(app).total_installs == 1
    standby.crash()
    assert analytics(app).total_installs == 2, "It died between two looks."

"""Releases judged by real hook calls to the servers of both versions (contract, section 10)."""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from extensions.models import HookCall
from extensions.releases.watch import look
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.models import App
from marketplace.services import releases
from tests.clients import Api
from tests.developers.api.releases.rolling import RELEASES, approve, change, path, save, seen
from tests.extensions.hooks import asking
from tests.extensions.manifests import hook
from tests.faults.processes import Processes
from tests.faults.servers import Redis
from tests.hooking import says
from tests.receivers import Answer, Receiver
from tests.waiting import wait_until

HARMLESS = 20  # releases


@pytest.fixture
def servers() -> Iterator[tuple[Receiver, Receiver]]:
    """Of the old version and of the new one; both give no discount."""
    with Receiver() as old, Receiver() as new:
        for each in (old, new):
            each.respond_with(says({"discount": 0}))
        yield old, new


@pytest.fixture
def hooked(api: Api, first: App, twenty: list[Installation], servers: tuple[Receiver, Receiver]) -> App:
    """Version 1 asks the old server, in twenty stores."""
    save(api, first, {"hooks": [hook()]})
    return approve(change(first, webhook_url=f"{servers[0].url}v", version="1.5.0"), "ALL")


def in_quarter(app: App, new: Receiver, version: str) -> App:
    """The next version, in five of the twenty stores."""
    app = approve(change(app, webhook_url=f"{new.url}v", version=version))
    for _ in range(2):
        releases.advance(app=app)
        follow_all()
    return app


@pytest.mark.long
@pytest.mark.spec(RELEASES, "A version whose hook fails halts at its 20th failed call")
def test_failing_hook(
    api: Api, hooked: App, twenty: list[Installation], servers: tuple[Receiver, Receiver]
) -> None:
    """Looked at after every call of a shopper, in stores of both versions in turn."""
    _, new = servers
    new.respond_with(500)
    app = in_quarter(hooked, new, "2.0.0")
    stores = sorted(map(seen, twenty), key=lambda each: not each.is_in_release)[:10]
    for shopper in range(50):
        asking.discount(stores[shopper % 10].business)
        look()
        if api("get", path(app)).json()["state"] == "HALTED":
            break
    found = api("get", path(app)).json()
    assert found["reason"] == "All 20 calls with the new version failed."
    assert len(new.requests) == found["health"]["new"]["failed"] == 20
    assert found["health"]["old"]["failed"] == 0


@pytest.mark.slow
@pytest.mark.spec(RELEASES, "Of 20 harmless releases with real calls none halts")
def test_harmless_releases(
    api: Api, hooked: App, twenty: list[Installation], servers: tuple[Receiver, Receiver]
) -> None:
    """Both servers answer alike: one call in ten fails, and one in ten takes a little longer."""
    chance = random.Random(7)
    fine, late = says({"discount": 0}), says({"discount": 0}, delay=0.02)
    app, (old, new) = hooked, servers
    for number in range(HARMLESS):
        HookCall.objects.all().delete()
        for each in servers:
            each.respond_with(*chance.choices([fine, late, Answer(status=500)], [8, 1, 1], k=60), fine)
        app = in_quarter(app, new, f"2.{number}.0")
        inside = [each for each in map(seen, twenty) if each.is_in_release]
        outside = [each for each in map(seen, twenty) if not each.is_in_release]
        for shopper in range(20):
            for some in (inside, outside):
                asking.discount(some[shopper % 5].business)
            look()
        found = api("get", path(app)).json()
        assert (found["state"], found["health"]["new"]["calls"]) == ("ROLLING", 20)
        assert api("post", path(app, "advance"), {}).json()["state"] == "COMPLETE"
        follow_all()
        old, new = new, old


@pytest.mark.slow
@pytest.mark.timed
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(RELEASES, "A version whose every call fails is halted within 60 s of its 20th call")
def test_workers_halt_a_failing_version(
    api: Api, hooked: App, twenty: list[Installation], servers: tuple[Receiver, Receiver], tmp_path: Path
) -> None:
    """By scheduler and worker, as an installation runs them."""
    _, new = servers
    new.respond_with(500)
    app = in_quarter(hooked, new, "2.0.0")
    inside = [each for each in map(seen, twenty) if each.is_in_release]
    with Redis() as redis:
        processes = Processes(tmp_path, REDIS_URL=redis.url, CELERY_BROKER_URL=redis.url)
        try:
            processes.worker().wait_for_output("ready.", timeout=120)
            processes.beat()
            for shopper in range(20):
                asking.discount(inside[shopper % 5].business)
            wait_until(lambda: api("get", path(app)).json()["state"] == "HALTED", timeout=60)
        finally:
            processes.end()

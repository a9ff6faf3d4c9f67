"""Releases judged by real hook calls to the servers of both versions (contract, section 10)."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from extensions.hooks import skipped
from extensions.models import Breaker, HookCall
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


@pytest.mark.spec(
    RELEASES, "A release whose hook always fails on one store halts: what its breaker skips counts as failed"
)
def test_failing_hook_of_one_store(
    api: Api, hooked: App, twenty: list[Installation], servers: tuple[Receiver, Receiver]
) -> None:
    """The breaker opens after five calls and skips the next ones, which count, but for the time that they didn't take."""
    _, new = servers
    new.respond_with(500)
    app = approve(change(hooked, webhook_url=f"{new.url}v", version="2.0.0"))
    (inside,) = [each for each in map(seen, twenty) if each.is_in_release]
    outside = next(each for each in map(seen, twenty) if not each.is_in_release)
    for shopper in range(20):
        asking.discount(outside.business)
        asking.discount(inside.business)
        skipped.flush()
        look()
        assert api("get", path(app)).json()["state"] == ("HALTED" if shopper == 19 else "ROLLING")
    found = api("get", path(app)).json()
    assert found["reason"] == "All 20 calls with the new version failed."
    assert len(new.requests) == 5
    health = found["health"]["new"]
    took = HookCall.objects.filter(installation=inside).exclude(outcome="BREAKER_OPEN")
    assert (health["calls"], health["failed"], health["failureRate"]) == (20, 20, 1.0)
    assert health["p95Ms"] == max(took.values_list("duration_ms", flat=True))
    assert found["health"]["old"] | {"p95Ms": 0} == {"calls": 20, "failed": 0, "failureRate": 0.0, "p95Ms": 0}


@pytest.mark.spec(
    RELEASES, "At most 15 skips of one opening of a breaker count, of both versions, and none of its budget"
)
def test_skips_that_count(
    api: Api, hooked: App, twenty: list[Installation], servers: tuple[Receiver, Receiver]
) -> None:
    """A breaker that the old version opened says nothing of the new one, in whose step its store comes meanwhile."""
    old, new = servers
    old.respond_with(500)
    app = approve(change(hooked, webhook_url=f"{new.url}v", version="2.0.0"))
    before = [each for each in map(seen, twenty) if not each.is_in_release]
    for each in before:
        for _ in range(8):
            asking.discount(each.business)
    skipped.flush()
    for _ in range(2):
        releases.advance(app=app)
        follow_all()
    broken = next(each for each in map(seen, before) if each.is_in_release)
    for _ in range(30):
        asking.discount(broken.business)
    skipped.flush()

    def health() -> dict[str, Any]:
        return dict(api("get", path(app)).json()["health"])

    assert health()["old"]["calls"] == health()["old"]["failed"] == 8 * len(before) + 12
    assert health()["new"] == {"calls": 0, "failed": 0, "failureRate": None, "p95Ms": None}
    # The next opening is the new version's.
    new.respond_with(500)
    Breaker.objects.filter(installation=broken).update(open_until=timezone.now())
    for _ in range(18):
        asking.discount(broken.business)
    skipped.flush()
    assert (health()["new"]["calls"], health()["new"]["failed"]) == (16, 16)
    HookCall.objects.filter(installation=broken).update(outcome="NO_TIME_LEFT", opening_at=None)
    assert health()["new"]["calls"] == 0, "skips for want of time stay aside"


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
@pytest.mark.parametrize("stores", [1, 5])
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(RELEASES, "A version whose every call fails is halted within 60 s of its 20th call")
def test_workers_halt_a_failing_version(
    api: Api,
    hooked: App,
    twenty: list[Installation],
    servers: tuple[Receiver, Receiver],
    tmp_path: Path,
    stores: int,
) -> None:
    """By scheduler and worker, as an installation runs them; in one store most of the calls are skipped by its breaker."""
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
                asking.discount(inside[shopper % stores].business)
            skipped.flush()
            wait_until(lambda: api("get", path(app)).json()["state"] == "HALTED", timeout=60)
        finally:
            processes.end()

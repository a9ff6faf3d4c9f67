"""A release goes on and halts by itself, and its figures (contract, section 10)."""

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.utils import timezone

from accounts.models import Business, User
from accounts.services.sender import send_due
from extensions.enums import CallOutcome
from extensions.models import CountedCalls, HookCall
from extensions.releases.health import figures_of, health_of
from extensions.releases.watch import look
from installations.models import Installation
from installations.services.approval import follow_all
from marketplace.enums import AppRole
from marketplace.models import App, Release
from marketplace.services import releases, reviews
from marketplace.signals import figures_to_keep
from tests import factories
from tests.clients import Api
from tests.deliveries import OK, TIMEOUT, UNAVAILABLE, delivery
from tests.developers.api.releases.rolling import (
    NEW,
    RELEASES,
    approve,
    call,
    change,
    new_of,
    old_of,
    path,
    seen,
    urls,
)
from tests.merchants.pages import installed
from tests.pages import main_words_of, signed_in
from tests.signals import heard
from webhooks.enums import DeliveryStatus
from webhooks.models import Attempt, Webhook


@pytest.mark.long
@pytest.mark.spec(RELEASES, "A step ends by itself with 20 calls; without them it waits, at most seven days")
def test_steps_end_by_themselves(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    found = api("get", path(rolling)).json()
    assert found["nextStepAt"] is not None
    later(hours=23)
    later(hours=25)
    assert api("get", path(rolling)).json()["percent"] == 1, "nothing is known of the new version"
    call(new_of(twenty), number=20)
    later(hours=23)
    assert api("get", path(rolling)).json()["percent"] == 1
    later(hours=25)
    assert api("get", path(rolling)).json()["percent"] == 5
    Release.objects.update(watched_from=timezone.now(), step_at=timezone.now() - timedelta(days=3))
    assert api("get", path(rolling)).json()["nextStepAt"] is None
    later(days=4, hours=23)
    assert api("get", path(rolling)).json()["percent"] == 5
    later(days=5, minutes=1)
    assert api("get", path(rolling)).json()["percent"] == 25


@pytest.mark.long
@pytest.mark.spec(
    RELEASES,
    "A version that fails more often halts by itself, with the reason; calls skipped for want of time aside",
)
def test_failing_version_halts(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    new, old = new_of(twenty), next(each for each in map(seen, twenty) if not each.is_in_release)
    call(old, number=30)
    call(new, number=40, outcome=CallOutcome.NO_TIME_LEFT, took=0)
    call(new, number=19, outcome=CallOutcome.TIMEOUT, took=5000)
    later(seconds=10)
    assert api("get", path(rolling)).json()["state"] == "ROLLING"
    call(new, outcome=CallOutcome.HTTP_ERROR)
    later(seconds=10)
    found = api("get", path(rolling)).json()
    assert (found["state"], found["reason"]) == ("HALTED", "All 20 calls with the new version failed.")
    assert found["health"] == {
        "new": {"calls": 20, "failed": 20, "failureRate": 1.0, "p95Ms": 5000},
        "old": {"calls": 30, "failed": 0, "failureRate": 0.0, "p95Ms": 50},
    }
    later(days=30)
    assert api("get", path(rolling)).json()["percent"] == 1
    judged_from = Release.objects.get(version__number=2).watched_from
    assert api("post", path(rolling, "resume"), {}).status_code == 200
    later(seconds=10)
    releases.halt(app=rolling, reason="Judged before it was resumed.", watched_from=judged_from)
    assert api("get", path(rolling)).json()["state"] == "ROLLING", "judged by its calls from now on"


@pytest.mark.parametrize("is_settled", [False, True])
@pytest.mark.spec(RELEASES, "An outage of one store halts nothing while others run the new version well")
def test_outage_of_one_store_halts_nothing(
    api: Api, rolling: App, twenty: list[Installation], is_settled: bool
) -> None:
    for _ in range(2):
        releases.advance(app=rolling)
        follow_all()
    inside = [each for each in map(seen, twenty) if each.is_in_release]
    call(old_of(twenty), number=200)
    for each in inside[1:]:
        call(each, number=10)
    call(inside[0], number=20, outcome=CallOutcome.HTTP_ERROR)
    after = timezone.now() + timedelta(minutes=12 if is_settled else 0)
    with time_machine.travel(after):
        look()
    if is_settled:  # added up for good, and not read again
        kept = CountedCalls.objects.values_list("stores", flat=True)
        assert {str(inside[0].pk): [20, 20, 0]} in list(kept)
    assert api("get", path(rolling)).json()["state"] == "ROLLING"
    with time_machine.travel(after):
        call(inside[1], number=8, outcome=CallOutcome.HTTP_ERROR)
        look()
        found = api("get", path(rolling)).json()
    assert (found["state"], (found["reason"] or "")[:30]) == ("HALTED", "28 of 68 calls failed with the")


@pytest.mark.long
@pytest.mark.usefixtures("tasks_run_at_once")
def test_halt_is_mailed(
    rolling: App, twenty: list[Installation], dana: User, sam: User, django_capture_on_commit_callbacks: Any
) -> None:
    """To the owner and the developers, with the figure. A halt by hand sends none."""
    factories.member(rolling, sam, AppRole.DEVELOPER)
    viewer = factories.developer("viewer@example.com")
    factories.member(rolling, viewer, AppRole.VIEWER)
    call(new_of(twenty), number=20, outcome=CallOutcome.HTTP_ERROR)
    send_due()
    mail.outbox.clear()
    for _ in range(2):
        with django_capture_on_commit_callbacks(execute=True):
            look()
    assert [each.to for each in mail.outbox] == [[dana.email], [sam.email]]
    (message, _other) = mail.outbox
    assert message.subject == "Loyalty Stars 2.0.0: the release has halted"
    for words in ("All 20 calls with the new version failed.", "at 1%", "/portal/apps/stars/release/"):
        assert words in str(message.body)
    with django_capture_on_commit_callbacks(execute=True):
        releases.resume(app=rolling, by=dana)
        releases.halt(app=rolling, by=dana)
    assert len(mail.outbox) == 2


@pytest.mark.long
@pytest.mark.spec(
    RELEASES,
    "First attempts of deliveries since the approval count; retries, tests, resends, sandboxes and others don't",
)
def test_what_counts(
    api: Api, rolling: App, twenty: list[Installation], sandbox: Business, sam: User
) -> None:
    new, old = new_of(twenty), next(each for each in map(seen, twenty) if not each.is_in_release)
    own = installed(App.objects.get(pk=rolling.pk), sandbox)
    other = installed(factories.app(sam, webhook_url=NEW, slug="other"), Business.objects.sandbox_of(sam))
    factories.approve(App.objects.get(slug="other"))
    Installation.objects.filter(pk=other.pk).update(is_test=False, is_own=False)
    for each in (new, old, own, other):
        webhook = Webhook.objects.select_related("installation__business").get(installation=each)
        delivery(webhook, DeliveryStatus.SUCCEEDED, UNAVAILABLE, OK)
        delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
        delivery(webhook, DeliveryStatus.EXHAUSTED, TIMEOUT, event_type="webhook.test")
        delivery(webhook, DeliveryStatus.SUCCEEDED, TIMEOUT, created_at=timezone.now() - timedelta(hours=2))
    Attempt.objects.filter(number=2).update(attempted_at=timezone.now())  # these retries have been made
    call(old, took=20)
    HookCall.objects.filter(installation=old).update(called_at=timezone.now() - timedelta(hours=1))
    assert api("get", path(rolling)).json()["health"] == {
        name: {"calls": 2, "failed": 1, "failureRate": 0.5, "p95Ms": 812} for name in ("new", "old")
    }


@pytest.mark.long
@pytest.mark.spec(RELEASES, "Resume begins the step again: a whole step, with its 20 calls")
def test_resume_begins_the_step_again(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    call(new_of(twenty), number=20)
    days_ago = timezone.now() - timedelta(days=2)
    HookCall.objects.update(called_at=days_ago + timedelta(hours=1))
    Installation.objects.update(followed_at=days_ago)
    Release.objects.update(started_at=days_ago, step_at=days_ago, watched_from=days_ago)
    api("post", path(rolling, "halt"), {})
    ends = datetime.fromisoformat(api("post", path(rolling, "resume"), {}).json()["nextStepAt"])
    assert timedelta(hours=23) < ends - timezone.now() <= timedelta(days=1)
    later(hours=25)
    found = api("get", path(rolling)).json()
    assert (found["percent"], found["health"]["new"]["calls"]) == (1, 20), "calls from now on count"
    call(new_of(twenty), number=20)
    later(hours=23)
    assert api("get", path(rolling)).json()["percent"] == 1
    later(hours=25)
    assert api("get", path(rolling)).json()["percent"] == 5


@pytest.mark.long
@pytest.mark.spec(RELEASES, "A slow version halts by itself")
def test_slow_version_halts(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    new, old = new_of(twenty), next(each for each in map(seen, twenty) if not each.is_in_release)
    call(old, number=40, took=100)
    call(new, number=40, took=900)
    later(seconds=10)
    assert "900 ms with the new version" in api("get", path(rolling)).json()["reason"]


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "Suspending halts a release; it stays HALTED, and resume is 409 until it is lifted"
)
def test_suspension(api: Api, rolling: App) -> None:
    reviewer = factories.reviewer()
    reviews.suspend(app=rolling, reviewer=reviewer, reason="Spam")
    assert api("get", path(rolling)).json()["state"] == "HALTED"
    refused = api("post", path(rolling, "resume"), {})
    assert (refused.status_code, refused.headers["X-Error-Code"]) == (409, "app_suspended")
    reviews.reinstate(app=rolling, reviewer=reviewer)
    assert api("get", path(rolling)).json()["state"] == "HALTED"
    assert api("post", path(rolling, "resume"), {}).status_code == 200


@pytest.mark.long
@pytest.mark.spec(RELEASES, "A release in steps of a suspended app waits, HALTED, until it is resumed")
def test_approval_while_suspended(
    api: Api, first: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    reviewer = factories.reviewer()
    reviews.suspend(app=first, reviewer=reviewer, reason="Spam")
    app = approve(change(first, webhook_url=NEW, version="2.0.0"))
    later(days=30)
    found = api("get", path(app)).json()
    assert (found["state"], found["percent"], found["reason"]) == ("HALTED", 1, "The app is suspended.")
    assert api("post", path(app, "resume"), {}).status_code == 409
    reviews.reinstate(app=app, reviewer=reviewer)
    follow_all()
    assert not urls(twenty)[NEW]
    assert api("post", path(app, "resume"), {}).status_code == 200
    follow_all()
    assert len(urls(twenty)[NEW]) == 1


@pytest.mark.long
def test_approval_while_suspended_to_all_stores_at_once(
    api: Api, first: App, twenty: list[Installation]
) -> None:
    reviews.suspend(app=first, reviewer=factories.reviewer(), reason="Spam")
    app = approve(change(first, webhook_url=NEW, version="2.0.0"), "ALL")
    found = api("get", path(app)).json()
    assert (found["state"], found["percent"], found["reason"]) == ("COMPLETE", 100, None)
    assert {run.version for each in twenty if (run := seen(each).runs)} == {"2.0.0"}


@pytest.mark.long
def test_figures_are_kept_at_the_end(
    api: Api, rolling: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    """With the last step; later calls change nothing, and figures outlive their rows."""
    call(new_of(twenty), number=3)
    for _ in range(3):
        api("post", path(rolling, "advance"), {})
        follow_all()
    at_the_end = api("get", path(rolling)).json()["health"]
    assert at_the_end["new"]["calls"] == 3
    call(twenty[0], number=4, outcome=CallOutcome.TIMEOUT)
    assert api("get", path(rolling)).json()["health"] == at_the_end
    later(seconds=10)
    HookCall.objects.all().delete()
    assert api("get", path(rolling)).json()["health"] == at_the_end
    with heard(figures_to_keep) as counted_again:
        assert api("post", path(rolling, "back"), {}).status_code == 200
    assert not counted_again
    assert api("get", path(rolling)).json()["health"] == at_the_end


@pytest.mark.long
def test_figures_of_a_release_to_all_are_of_a_week(
    api: Api, first: App, twenty: list[Installation], later: Callable[..., None]
) -> None:
    app = approve(change(first, version="2.0.0"), "ALL")
    call(twenty[0], number=3)
    ended = timezone.now() - timedelta(days=7, minutes=1)
    Release.objects.filter(version__number=2).update(started_at=ended, ended_at=ended)
    call(twenty[1], number=2)
    HookCall.objects.filter(installation=twenty[0]).update(called_at=ended + timedelta(days=6))
    assert api("get", path(app)).json()["health"]["new"]["calls"] == 3
    later(seconds=10)
    HookCall.objects.all().delete()
    assert api("get", path(app)).json()["health"]["new"]["calls"] == 3


@pytest.mark.long
def test_figures_are_kept_once_of_that_release_as_it_was(api: Api, first: App, shop: Business) -> None:
    """Not of another app's that ended at the same time, nor of one that moved while they were read."""
    other = approve(factories.app(shop.owner, name="Other"), "ALL")
    before = Release.objects.get(version__app=other)
    app = approve(change(first, version="2.0.0"), "ALL")
    Release.objects.update(ended_at=before.ended_at)
    read = Release.objects.get(version__app=app, version__number=2)
    api("post", path(app, "back"), {})
    api("post", f"/developer/apps/{app.pk}/versions/2/restore", {})
    releases.keep_figures(release=read)
    moved = Release.objects.get(pk=read.pk)
    assert moved.final_health is None
    for _ in range(2):
        releases.keep_figures(release=moved)
        moved.refresh_from_db()
        assert moved.final_health
    before.refresh_from_db()
    assert before.final_health is None


@pytest.mark.long
@pytest.mark.spec(
    RELEASES, "The gate reads calls of the last minutes, however long a release takes, and counts all"
)
def test_settled_calls_are_added_up(api: Api, rolling: App, twenty: list[Installation]) -> None:
    """With calls at every minute, a step and a **Resume** meanwhile; and when the calls that were added up are gone."""
    chance = random.Random(33)
    expected = {"new": [0, 0], "old": [0, 0]}
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for minute in range(45):
            clock.shift(60)
            for name, each in (("new", new_of(twenty)), ("old", old_of(twenty))):
                call(each, number=(number := chance.randrange(1, 4)), took=chance.randrange(40, 60))
                call(each, number=(failed := chance.randrange(2)), outcome=CallOutcome.TIMEOUT, took=60)
                webhook = Webhook.objects.select_related("installation__business").get(installation=each)
                delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
                expected[name][0] += number + failed + 1
                expected[name][1] += failed
            if minute > 10:  # recorded late
                call(old_of(twenty), outcome=CallOutcome.TIMEOUT, took=99)
                late = HookCall.objects.filter(duration_ms=99, called_at=timezone.now())
                late.update(called_at=timezone.now() - timedelta(minutes=9))
                expected["old"] = [each + 1 for each in expected["old"]]
            look()
            if minute == 20:
                releases.advance(app=rolling)
                follow_all()
            if minute == 30:
                releases.halt(app=rolling)
                releases.resume(app=rolling, by=rolling.developer)
            health = api("get", path(rolling)).json()["health"]
            assert {name: [it["calls"], it["failed"]] for name, it in health.items()} == expected
        release = Release.objects.get(version=rolling.rolling_version)
        watched, figures = health_of(release, release.watched_from), figures_of(release)
        CountedCalls.objects.all().delete()
        assert figures_of(release) == figures, "as from all calls"
        look()
        HookCall.objects.filter(called_at__lt=timezone.now() - timedelta(minutes=12)).delete()
        look()
        assert api("get", path(rolling)).json()["health"] == health
        assert health_of(release, release.watched_from) == watched
        assert figures_of(release) == figures
    assert watched.new.number < health["new"]["calls"]


@pytest.mark.long
@pytest.mark.parametrize("mode", ["ALL", "STEPS"])
def test_calls_are_added_up_without_steps(
    api: Api, first: App, twenty: list[Installation], dana: User, mode: str
) -> None:
    """After a release to all stores, and while one is halted. The page and the figures at the end need no calls of long ago."""
    app = approve(change(first, version="2.0.0"), mode)
    if mode == "STEPS":
        api("post", path(app, "halt"), {})
    began = timezone.now() - timedelta(hours=60)  # ids of calls are of today
    Release.objects.filter(version__number=2).update(started_at=began, watched_from=began)
    Release.objects.filter(version__number=2, mode="ALL").update(ended_at=began)
    with time_machine.travel(began, tick=False) as clock:
        for hour in range(60):
            clock.shift(3600)
            call(twenty[hour % 20], number=1 + hour % 3, took=10 + hour)
            look()
        release = Release.objects.get(version__number=2)
        figures = figures_of(release)
        assert figures["unit"] == "day"
        assert [len(figures["history"]), figures["new"]["calls"] + figures["old"]["calls"]] in (
            [3, 120],
            [4, 120],
        )
        page = main_words_of(signed_in(dana).get("/portal/apps/stars/release/"))
        CountedCalls.objects.all().delete()
        assert figures_of(release) == figures
        look()
        HookCall.objects.filter(called_at__lt=timezone.now() - timedelta(minutes=90)).delete()
        assert figures_of(release) == figures
        assert main_words_of(signed_in(dana).get("/portal/apps/stars/release/")) == page
        api("post", path(app, "back"), {})
    release.refresh_from_db()
    assert release.final_health == figures

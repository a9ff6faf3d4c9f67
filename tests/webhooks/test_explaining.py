"""Why an event did or didn't arrive: each cause by the real services, and random histories against an oracle.

The oracle replays the list of actions and knows nothing of the tables.
"""

import os
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import transaction
from django.utils import timezone

from accounts.models import Business, User
from installations.models import HistoryEntry, Installation
from installations.services.lifecycle import Terms, install, pause, resume, uninstall
from marketplace.models import App
from marketplace.services.reviews import reinstate, suspend
from tests import factories
from tests.receivers import Receiver
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Webhook
from webhooks.services.disabling import disable
from webhooks.services.explaining import Cause, Reason, explain
from webhooks.services.registration import change_webhook, delete_webhook
from webhooks.services.retention import KEPT

TYPE = "order.created"
URL = "https://api.example.com/in"
HOUR = timedelta(hours=1)
HISTORIES = int(os.environ.get("HISTORIES", "200"))


@dataclass
class Story:
    """An app in a store, hour by hour; hour 0 is two days ago."""

    app: App
    shop: Business
    owner: User
    rita: User
    begin: datetime = field(default_factory=lambda: timezone.now() - 48 * HOUR)
    installation: Installation | None = None
    webhook: Webhook | None = None

    def at(self, hour: float) -> datetime:
        return self.begin + hour * HOUR

    def install(self, hour: float, scopes: Any = None) -> Installation:
        granted = self.app.scopes if scopes is None else scopes
        self.installation = install(
            app=self.app,
            business=self.shop,
            installed_by=self.owner,
            terms=Terms(is_test=False, granted_scopes=granted),
            now=self.at(hour),
        ).installation
        return self.installation

    def register(self, hour: float, *events: str) -> Webhook:
        assert self.installation
        self.webhook = helpers.webhook(
            self.installation, URL, list(events or [TYPE]), created_at=self.at(hour)
        )
        return self.webhook

    def publish(self, hour: float) -> None:
        helpers.publish(self.shop, TYPE, now=self.at(hour))

    def change(self, hour: float, **changes: Any) -> None:
        assert self.webhook
        change_webhook(webhook=self.webhook, changes=changes, now=self.at(hour))

    def reasons(self, hour: float, event_type: str = TYPE) -> list[Reason]:
        return explain(app=self.app, business=self.shop, event_type=event_type, at=self.at(hour))


@pytest.fixture
def rita(db: None) -> User:
    return factories.reviewer()


@pytest.fixture
def story(app: App, shop: Business, mira: User, rita: User) -> Story:
    factories.approve(app)
    return Story(app, shop, mira, rita)


@pytest.fixture
def listening(story: Story) -> Story:
    """Installed and registered for a day."""
    story.install(0)
    story.register(1)
    return story


def test_not_installed_yet(story: Story) -> None:
    assert [each.cause for each in story.reasons(3)] == [Cause.NOT_INSTALLED_YET]
    story.install(5)
    (reason,) = story.reasons(3)
    assert (reason.cause, reason.at) == (Cause.NOT_INSTALLED_YET, story.at(5))


def uninstalled(story: Story) -> None:
    assert story.installation
    uninstall(installation=story.installation, now=story.at(2))
    story.publish(3)


def suspended(story: Story) -> None:
    suspend(app=story.app, reviewer=story.rita, reason="Spam.", now=story.at(2))
    story.publish(3)
    reinstate(app=story.app, reviewer=story.rita, now=story.at(4))


def without_scope(story: Story) -> None:
    assert story.installation
    Installation.objects.filter(pk=story.installation.pk).update(granted_scopes=["read_products"])
    story.publish(3)


def granted_later(story: Story) -> None:
    assert story.installation
    HistoryEntry.objects.filter(installation=story.installation).update(scopes=["read_products"])
    story.install(5)


def nothing(story: Story) -> None:
    story.publish(5)


def no_webhook(story: Story) -> None:
    Webhook.objects.all().delete()
    story.publish(3)


def registered_later(story: Story) -> None:
    Webhook.objects.update(created_at=story.at(4))
    Webhook.objects.update(is_active=False)
    story.publish(3)
    Webhook.objects.update(is_active=True)


def deleted(story: Story) -> None:
    assert story.webhook
    delete_webhook(webhook=story.webhook, now=story.at(2))
    story.publish(3)


def not_subscribed(story: Story) -> None:
    story.change(2, events=["review.created"])
    story.publish(3)


def switched_off(story: Story) -> None:
    story.change(2, is_active=False)
    story.publish(3)


def off_then(story: Story) -> None:
    switched_off(story)
    story.change(4, is_active=True)


def held_by_pause(story: Story) -> None:
    assert story.installation
    pause(installation=story.installation, user=story.owner, now=story.at(2))
    story.publish(3)


def held_by_disabling(story: Story) -> None:
    assert story.webhook
    disable(webhook=story.webhook, reason="It answers 410.", now=story.at(2))
    story.publish(3)


def cancelled(story: Story) -> None:
    story.publish(3)
    story.change(4, is_active=False)


def filtered(story: Story) -> None:
    Webhook.objects.update(filter='{"all":[{"field":"amount","op":"gt","value":100}]}')
    story.publish(3)


def filtered_then(story: Story) -> None:
    """The filter was another one, which no row keeps."""
    filtered(story)
    Webhook.objects.update(filter='{"all":[{"field":"amount","op":"gt","value":1}]}')


def waiting(story: Story) -> None:
    story.publish(3)


@pytest.mark.parametrize(
    ("happens", "cause"),
    [
        (uninstalled, Cause.UNINSTALLED),
        (suspended, Cause.APP_SUSPENDED),
        (without_scope, Cause.SCOPE_MISSING),
        (granted_later, Cause.SCOPE_GRANTED_LATER),
        (nothing, Cause.NOTHING_HAPPENED),
        (no_webhook, Cause.NO_WEBHOOK),
        (registered_later, Cause.REGISTERED_LATER),
        (deleted, Cause.DELETED),
        (not_subscribed, Cause.NOT_SUBSCRIBED),
        (switched_off, Cause.SWITCHED_OFF),
        (off_then, Cause.NOT_LISTENING_THEN),
        (filtered, Cause.FILTERED),
        (filtered_then, Cause.NOT_LISTENING_THEN),
        (held_by_pause, Cause.HELD_PAUSED),
        (held_by_disabling, Cause.HELD_DISABLED),
        (cancelled, Cause.CANCELLED),
        (waiting, Cause.WAITING),
    ],
)
def test_cause(listening: Story, happens: Callable[[Story], None], cause: Cause) -> None:
    happens(listening)
    assert [each.cause for each in listening.reasons(3)] == [cause]


def test_older_than_what_is_kept(listening: Story) -> None:
    hours = -(KEPT / HOUR)
    assert [each.cause for each in listening.reasons(hours)] == [Cause.OLDER_THAN_KEPT]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("status", "made", "cause"),
    [(200, 0, Cause.DELIVERED), (500, 0, Cause.RETRYING), (500, 5, Cause.EXHAUSTED)],
)
def test_cause_after_an_attempt(
    listening: Story, settings: Any, status: int, made: int, cause: Cause
) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as receiver:
        receiver.respond_with(status)
        assert listening.webhook
        listening.webhook.url = receiver.url
        listening.webhook.save()
        listening.publish(3)
        Delivery.objects.update(attempts_made=made)
        helpers.drain()
    (reason,) = listening.reasons(3)
    assert reason.cause == cause
    assert reason.at


@pytest.mark.parametrize("lacks", ["scope", "install", "approval"])
def test_answer_never_shows_events_that_the_app_may_not_learn_of(
    listening: Story, sam: User, lacks: str
) -> None:
    """Another app's subscription has the event recorded."""
    other = factories.app(sam)
    factories.approve(other)
    factories.installation(other, listening.shop)
    assert listening.installation
    if lacks == "scope":
        Installation.objects.filter(pk=listening.installation.pk).update(granted_scopes=["read_products"])
    elif lacks == "install":
        uninstall(installation=listening.installation, now=listening.at(2.9))
    else:
        suspend(app=listening.app, reviewer=listening.rita, reason="Spam.", now=listening.at(2.9))
    quiet = listening.reasons(3)
    listening.publish(3)
    assert listening.reasons(3) == quiet
    assert [each.event for each in quiet] == [None]


# --- Random histories -----------------------------------------------------------------------------


@dataclass
class Endpoint:
    """The oracle's webhook. `result` is what has become of the event's delivery there; "" if there is none."""

    created: int
    lists: bool = True
    on: bool = True
    disabled: bool = False
    deleted: int | None = None
    result: str = ""
    missed: str = ""  # why there is none


class Oracle:
    """Replays actions. `event_at` is the hour of the one event."""

    def __init__(self) -> None:
        self.installed: int | None = None
        self.ended: int | None = None
        self.suspended = self.paused = False
        self.endpoints: list[Endpoint] = []
        self.happened: str = ""  # why nothing can be shown; "shown" where it can

    def act(self, hour: int, action: str, index: int) -> None:
        getattr(self, f"on_{action}")(hour, index)

    def live(self) -> list[Endpoint]:
        return [each for each in self.endpoints if each.deleted is None]

    def on_install(self, hour: int, _: int) -> None:
        self.installed = hour

    def on_register(self, hour: int, _: int) -> None:
        self.endpoints.append(Endpoint(hour))

    def on_suspend(self, *_: int) -> None:
        self.suspended = True
        for each in self.endpoints:
            if each.result in ("waiting", "held: paused", "held: disabled"):
                each.result = "cancelled"

    def on_reinstate(self, *_: int) -> None:
        self.suspended = False

    def on_pause(self, *_: int) -> None:
        self.paused = True
        for each in self.live():
            if each.on and each.result == "waiting":
                each.result = "held: paused"

    def on_resume(self, *_: int) -> None:
        self.paused = False
        for each in self.live():
            if each.result == "held: paused":
                each.result = "waiting" if each.on else "held: disabled" if each.disabled else "cancelled"

    def on_unlist(self, _: int, index: int) -> None:
        self.endpoints[index].lists = False

    def on_list(self, _: int, index: int) -> None:
        self.endpoints[index].lists = True

    def on_off(self, _: int, index: int) -> None:
        each = self.endpoints[index]
        if each.on:
            each.on = False
            if each.result == "waiting":
                each.result = "cancelled"

    def on_on(self, _: int, index: int) -> None:
        each = self.endpoints[index]
        if not each.on:
            each.on, each.disabled = True, False

    def on_disable(self, _: int, index: int) -> None:
        each = self.endpoints[index]
        if each.on:
            each.on, each.disabled = False, True
            if each.result == "waiting":
                each.result = "held: disabled"

    def on_delete(self, hour: int, index: int) -> None:
        each = self.endpoints[index]
        each.deleted, each.on = hour, False
        if each.result in ("waiting", "held: paused", "held: disabled"):
            each.result = "cancelled"

    def on_uninstall(self, hour: int, _: int) -> None:
        self.ended = hour
        for each in self.endpoints:
            each.on = False
            if each.result in ("waiting", "held: paused", "held: disabled"):
                each.result = "cancelled"

    def on_answer(self, *_: int) -> None:
        for each in self.endpoints:
            if each.result == "waiting":
                each.result = "delivered"

    def on_event(self, hour: int, _: int) -> None:
        if self.installed is None:
            self.happened = "not installed yet"
        elif self.ended is not None:
            self.happened = "uninstalled"
        elif self.suspended:
            self.happened = "app suspended"
        else:
            self.happened = "shown"
            for each in self.endpoints:
                if each.deleted is not None:
                    each.missed = "deleted"
                elif each.lists and each.on:
                    each.result = "held: paused" if self.paused else "waiting"
                elif each.lists and each.disabled:
                    each.result = "held: disabled"

    def expected(self) -> list[str]:
        if self.happened != "shown":
            return [self.happened]
        return [each.result or self.missing(each) for each in self.endpoints] or ["no webhook"]

    def missing(self, each: Endpoint) -> str:
        if each.missed:
            return each.missed
        if each.created > EVENT_AT:
            return "registered later"
        if not each.lists:
            return "not subscribed"
        is_off = not each.on and not each.disabled
        return (
            "switched off" if is_off and each.deleted is None and self.ended is None else "not listening then"
        )


EVENT_AT = 20
PER_WEBHOOK = ("unlist", "list", "off", "on", "disable", "delete")


def history_of(dice: random.Random) -> list[tuple[int, str, int]]:
    """Actions that the service would accept, one an hour: `(hour, action, index of the webhook)`."""
    oracle = Oracle()
    actions = []
    hours = sorted(dice.sample([hour for hour in range(1, 40) if hour != EVENT_AT], dice.randint(2, 9)))
    for hour in sorted([*hours, EVENT_AT]):
        action = "event" if hour == EVENT_AT else dice.choice(possible(oracle))
        index = 0
        if action in PER_WEBHOOK:
            index = dice.choice([n for n, each in enumerate(oracle.endpoints) if each.deleted is None])
        oracle.act(hour, action, index)
        actions.append((hour, action, index))
    return actions


def possible(oracle: Oracle) -> list[str]:
    if oracle.installed is None:
        return ["install"]
    if oracle.ended is not None:
        return ["answer"]
    found = ["register", "register", "reinstate" if oracle.suspended else "suspend"]
    found += ["resume" if oracle.paused else "pause", "uninstall", "answer"]
    return found + (list(PER_WEBHOOK) if oracle.live() else [])


class Real:
    """Does the actions by the services."""

    def __init__(self, story: Story) -> None:
        self.story = story
        self.webhooks: list[UUID] = []

    def act(self, hour: int, action: str, index: int) -> None:
        story, now = self.story, self.story.at(hour)
        webhook = Webhook.objects.get(pk=self.webhooks[index]) if action in PER_WEBHOOK else None
        match action:
            case "install":
                story.install(hour)
            case "register":
                self.webhooks.append(story.register(hour).pk)
            case "suspend":
                suspend(app=story.app, reviewer=story.rita, reason="Spam.", now=now)
            case "reinstate":
                reinstate(app=story.app, reviewer=story.rita, now=now)
            case "pause" | "resume":
                assert story.installation
                act = pause if action == "pause" else resume
                act(installation=story.installation, user=story.owner, now=now)
            case "uninstall":
                assert story.installation
                uninstall(installation=story.installation, now=now)
            case "event":
                story.publish(hour)
            case "answer":
                waiting = Delivery.objects.filter(status=DeliveryStatus.PENDING).exclude(
                    event__type__startswith="business"
                )
                waiting.update(status=DeliveryStatus.SUCCEEDED, due_at=None, finished_at=now)
            case "unlist" | "list":
                assert webhook
                events = [TYPE] if action == "list" else ["review.created"]
                change_webhook(webhook=webhook, changes={"events": events}, now=now)
            case "off" | "on":
                assert webhook
                change_webhook(webhook=webhook, changes={"is_active": action == "on"}, now=now)
            case "disable":
                assert webhook
                disable(webhook=webhook, reason="It answers 410.", now=now)
            case _:
                assert webhook
                delete_webhook(webhook=webhook, now=now)


@pytest.mark.long
def test_some_random_histories_are_explained_as_the_oracle_says(story: Story) -> None:
    check(story, range(40))


@pytest.mark.slow
def test_many_random_histories_are_explained_as_the_oracle_says(story: Story) -> None:
    """`HISTORIES=1000 make test-slow` checks more than CI has time for."""
    check(story, range(1000, 1000 + HISTORIES))


def check(story: Story, seeds: Any) -> None:
    seen: set[str] = set()
    for seed in seeds:
        actions = history_of(random.Random(seed))
        oracle, real = Oracle(), Real(story)
        with transaction.atomic():
            for action in actions:
                oracle.act(*action)
                real.act(*action)
            found = [str(each.cause) for each in story.reasons(EVENT_AT)]
            transaction.set_rollback(True)
        story.app.refresh_from_db()
        assert found == oracle.expected(), (seed, actions)
        seen.update(found)
    if len(seeds) >= 200:  # fewer may not meet every cause
        assert len(seen) >= 12

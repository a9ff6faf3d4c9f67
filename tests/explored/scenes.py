"""What is around the dispatchers: a store with an app, its endpoints, and the people who change them. All rows are real."""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

from django.db import connection, transaction

from accounts.models import Business, User
from common.errors import Conflict, NotFound
from installations.services import pause, resume, uninstall
from marketplace.models import App
from tests import factories
from tests.explored import schedules
from tests.webhooks import helpers
from webhooks.enums import Pace
from webhooks.models import DispatcherSlot, Endpoint, Webhook
from webhooks.services import disabling, registration

# By scene: the event that its endpoints get, how many there are, and how many events wait at the beginning.
KINDS: Final = {
    schedules.PLAIN: ("order.created", 1, 1),
    "two endpoints": ("order.cancelled", 2, 2),
    "six hosts": ("product.created", 6, 1),
    "a queue": ("product.updated", 1, 2),
}
# What is known of an endpoint's pace then, by its place.
PACES: Final = {
    "two endpoints": {1: Pace.SILENT},
    "six hosts": dict.fromkeys(range(6), Pace.FAST),
    "a queue": {0: Pace.SILENT},
}
QUEUED_FOR: Final = timedelta(seconds=55)
OF_A_RUN: Final = [
    f"webhooks_{table}" for table in ("attempt", "delivery", "event", "endpoint", "dispatcherslot", "erasure")
]


class Scene:
    """One app on one store. People change the first webhook of a kind of scene, or the whole installation."""

    def __init__(self, app: App, store: Business, merchant: User) -> None:
        self.app, self.store, self.merchant = app, store, merchant
        self.installation = factories.installation(app, store)
        self._webhooks = {
            kind: [
                helpers.webhook(self.installation, f"https://host-{number}.example.com/{event}", [event])
                for number in range(1, hosts + 1)
            ]
            for kind, (event, hosts, _) in KINDS.items()
        }
        self.kind = schedules.PLAIN
        self.published = 0  # deliveries that there have to be
        self.is_changed = False

    @property
    def webhook(self) -> Webhook:
        return self._webhooks[self.kind][0]

    def begin(self, kind: str, now: datetime) -> None:
        """The rows of this kind of scene, before any dispatcher starts."""
        with connection.cursor() as cursor:
            cursor.execute("; ".join(f"DELETE FROM {table}" for table in OF_A_RUN))  # noqa: S608
        if self.is_changed:
            self._restore()
        self.kind, self.published = kind, 0
        webhooks = self._webhooks[kind]
        paces = PACES.get(kind, {})
        Endpoint.objects.bulk_create(
            Endpoint(id=webhooks[at].endpoint, pace=pace) for at, pace in paces.items()
        )
        # Dana listens for her app on her own sandbox store. Deliveries for other stores are none of hers.
        person, seen_at = self.app.developer, now + timedelta(days=1)
        DispatcherSlot.objects.create(
            app=self.app, person=person, process="listener", is_claiming=False, seen_at=seen_at
        )
        for _ in range(KINDS[kind][2]):
            self.publish(now - QUEUED_FOR if kind == "a queue" else now)

    def _restore(self) -> None:
        self.installation.save()
        Webhook.objects.filter(is_app_defined=True).delete()  # of an uninstall, for the erasure
        Webhook.objects.update(is_active=True, deleted_at=None, disabled_at=None, disabled_reason="")
        self.is_changed = False

    def publish(self, now: datetime) -> None:
        event, hosts, _ = KINDS[self.kind]
        self.published += self._receiving() if self.is_changed else hosts
        helpers.publish(self.store, event, now=now)

    def _receiving(self) -> int:
        own = Webhook.objects.filter(pk__in=[each.pk for each in self._webhooks[self.kind]])
        return own.kept().receiving().filter(installation__uninstalled_at=None).count()

    def happens(self, what: str, now: datetime) -> None:
        """In a session of its own, with its commit."""
        if what in (schedules.PUBLISHED, schedules.UNHEARD):
            self.publish(now)
        elif what == schedules.ROLLED_BACK:
            with transaction.atomic():
                helpers.publish(self.store, KINDS[self.kind][0], now=now)
                transaction.set_rollback(True)
        else:
            self.is_changed = True
            with suppress(Conflict, NotFound):  # refused, after another change
                PEOPLE[what](self, now)

    def may_get(self, webhook_id: UUID) -> bool:
        """Whether this webhook gets events now."""
        if not self.is_changed:
            return True
        webhook = Webhook.objects.select_related("installation").get(pk=webhook_id)
        ended = webhook.deleted_at, webhook.installation.uninstalled_at, webhook.installation.paused_at
        return webhook.is_active and not any(ended)


def _delete(scene: Scene, now: datetime) -> None:
    registration.delete_webhook(webhook=scene.webhook, now=now)


def _disable(scene: Scene, now: datetime) -> None:
    disabling.disable(webhook=scene.webhook, reason="It failed.", now=now)


def _pause(scene: Scene, now: datetime) -> None:
    pause(installation=scene.installation, user=scene.merchant, now=now)


def _pause_and_resume(scene: Scene, now: datetime) -> None:
    _pause(scene, now)
    resume(installation=scene.installation, user=scene.merchant, now=now)


def _uninstall(scene: Scene, now: datetime) -> None:
    uninstall(installation=scene.installation, by=scene.merchant, now=now)


PEOPLE: Final[dict[str, Callable[[Scene, datetime], None]]] = {
    schedules.DELETED: _delete,
    schedules.DISABLED: _disable,
    schedules.PAUSED: _pause,
    schedules.RESUMED: _pause_and_resume,
    schedules.UNINSTALLED: _uninstall,
}

"""Opens and closes test stores, installs and uninstalls their app, and lets their clocks go on."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from accounts.models import Business, ConnectedStore, User
from accounts.services.businesses import open_throwaway_store
from accounts.services.confirmation import require_confirmed
from common import places
from common.db.rows import get_or_not_found
from common.db.transactions import forbid_transaction
from common.errors import Conflict
from common.places import Work
from extensions.hooks import breaker
from extensions.shops import telling
from installations.models import Installation
from installations.services import lifecycle
from installations.services.lifecycle import Issued, Terms
from marketplace.models import App
from marketplace.services.locks import lock_app, require_not_suspended
from stores.connected import payments as shop_payments
from stores.samples.store import fill_store
from stores.services import payments
from teststores.models import StoreScenario, TestStore
from teststores.signals import clock_advanced
from webhooks.engine import listeners
from webhooks.services import store_clock
from webhooks.services.app_defined import follow_app
from webhooks.services.disabling import judge_webhooks

MOST_AT_A_TIME: Final = 8  # of one developer, over all apps
SHORTEST, USUAL, LONGEST = timedelta(minutes=1), timedelta(minutes=15), timedelta(hours=1)
MANY: Final = 500  # products, and orders, of a busy store


@dataclass(frozen=True, slots=True)
class Opened:
    """A test store with the access token in clear, to be shown once."""

    store: TestStore
    issued: Issued


def open_test_store(
    *,
    app: App,
    developer: User,
    scenario: StoreScenario = StoreScenario.DEFAULT,
    lasts: timedelta = USUAL,
    now: datetime | None = None,
) -> Opened:
    """A store with the scenario's data, in which the working copy is installed.

    Its data publishes no event. Raises `Conflict` for a suspended app and for a ninth store at once, `NotFound` for an app that
    the person may not change, `NotAllowed` until the person's address is confirmed, `places.Busy`.
    """
    require_confirmed(developer)
    now = now or timezone.now()
    _require_room(developer, now)
    places.require(Work.TEST_STORE)
    with transaction.atomic():
        # The rows first, which no other request knows yet, so that the locks are held for a moment only.
        business = open_throwaway_store(
            purpose="Test store", expires_at=now + lasts, with_samples=False, now=now
        )
        if scenario != StoreScenario.EMPTY:
            least = MANY if scenario == StoreScenario.BUSY else 0
            fill_store(business=business, at_least=least, now=now)
        User.objects.select_for_update(no_key=True).get(pk=developer.pk)  # so that two at once are counted
        _require_room(developer, now)
        store = TestStore(app=app, business=business, made_by=developer, created_at=now)
        issued = _install(store, now)
        store.save(force_insert=True)
        return Opened(store, issued)


def _require_room(developer: User, now: datetime) -> None:
    if TestStore.objects.open(now).filter(made_by=developer).count() >= MOST_AT_A_TIME:
        raise Conflict(
            f"You have {MOST_AT_A_TIME} test stores already. Delete one first, or wait until one has expired.",
            code="too_many_test_stores",
        )


def find_test_store(*, developer: User, store_id: object) -> TestStore:
    """One of the person's own that is still open, of an app that they may still change. Raises `NotFound`."""
    own = TestStore.objects.open().filter(made_by=developer, app__in=App.objects.developed_by(developer))
    return get_or_not_found(own.select_related("app", "business"), store_id, "Test store not found")


def installation_of(store: TestStore) -> Installation | None:
    """Where the app is installed now."""
    active = Installation.objects.active().with_app().filter(app=store.app_id, business=store.business_id)
    return active.first()


@transaction.atomic
def install(*, store: TestStore, now: datetime | None = None) -> Issued:
    """Install the app in its test store again, which cancels an erasure that waits; where it is installed, only the token is new.

    Raises `Conflict` for a suspended app.
    """
    return _install(store, now or timezone.now())


@transaction.atomic
def uninstall(*, store: TestStore, now: datetime | None = None) -> Installation:
    """As by a merchant: an erasure follows, if the store is still there then. Raises `Conflict` if it isn't installed."""
    installation = installation_of(store)
    if installation is None:
        raise Conflict("The app is not installed on this test store.", code="not_on_test_store")
    return lifecycle.uninstall(installation=installation, by=store.made_by, now=now or timezone.now())


@transaction.atomic
def listen(*, app: App, developer: User, store: TestStore | None = None, now: datetime | None = None) -> int:
    """Attach a listener for the app on the person's sandbox and test stores, or for one test store alone.

    Without a Webhook URL of the app, the test stores get their app-defined webhooks by it. Raises as `listeners.attach`.
    """
    slot = listeners.attach(app=app, person=developer, store=store.business if store else None)
    own = TestStore.objects.open(now).filter(app=app, made_by=developer)
    stores = [store.business_id] if store else list(own.values_list("business_id", flat=True))
    there = Installation.objects.active().with_app().filter(app=app, business__in=stores)
    follow_app(installations=list(there.defer("webhook_secret")), now=now)
    return slot


@dataclass(frozen=True, slots=True)
class Advanced:
    """The store's clock now, and how much became due."""

    clock: datetime
    deliveries: int
    erasures: int
    payments: int


def advance(*, store: TestStore | ConnectedStore, by: timedelta, now: datetime | None = None) -> Advanced:
    """Let the store's clock go on: what falls due within that time is due now, and served like anything else.

    `store` is one of an author, or of a connection for tests. Not inside a transaction, since each payment expires in its own.
    """
    forbid_transaction()
    now = now or timezone.now()
    with transaction.atomic():
        clocks: Any = type(store)._default_manager.select_for_update(of=("self",))  # noqa: SLF001
        locked = clocks.select_related("business").get(pk=store.pk)
        locked.ahead += by
        locked.save(update_fields=["ahead"])
        became = store_clock.bring_forward(business=locked.business, by=by, now=now)
        unpaid = payments.bring_forward(business=locked.business, by=by, now=now)
        unpaid_elsewhere = shop_payments.bring_forward(business=locked.business, by=by, now=now)
        breaker.bring_forward(business=locked.business, by=by)
        telling.bring_forward(business=locked.business, by=by)
        clock_advanced.send(type(store), business=locked.business, by=by, now=now)
    expired = sum(payments.expire_payment(order=order, now=now) for order in unpaid)
    expired += shop_payments.expire_each(unpaid_elsewhere, now=now)
    judge_webhooks(now=now)
    return Advanced(now + locked.ahead, became.deliveries, became.erasures, expired)


def close(*, store: TestStore, now: datetime | None = None) -> None:
    """Let the store expire now. Its data is gone within a minute, and nothing of it is found until then."""
    Business.objects.filter(pk=store.business_id).update(expires_at=now or timezone.now())


def _install(store: TestStore, now: datetime) -> Issued:
    locked = lock_app(store.app, developer=store.made_by)
    require_not_suspended(
        locked, "The app is suspended. It can be installed again once a reviewer lifts the suspension."
    )
    # Never converted by an approval, as a check's isn't, and treated as on the developer's own sandbox in all else.
    terms = Terms(True, locked.scopes, is_review=True, is_own=True)
    return lifecycle.install(
        app=locked, business=store.business, installed_by=store.made_by, terms=terms, now=now
    )

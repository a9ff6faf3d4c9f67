"""All that is known of a run when it is over: the ledger, what apps received, the database, the logs."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from time import monotonic, sleep, time
from typing import Any, Final

import psycopg

from common.ids import first_id_at
from tools.soak.calls import ERASED_AFTER
from tools.soak.faults import Faults
from tools.soak.ledger import Install, Ledger, key_of
from tools.soak.load import Load
from tools.soak.memory import Memory
from tools.soak.receiver import Receiver
from tools.soak.shop import Mirrored
from tools.soak.site import Site
from tools.soak.week import clock as clock_module
from tools.soak.week.clock import Clock
from tools.soak.week.due import Passed
from tools.soak.week.leaps import Week
from tools.soak.windows import Windows

WAITING = "SELECT count(*) FROM webhooks_delivery WHERE status IN ('PENDING', 'RETRYING')"
ORDERS = """
SELECT o.id::text, o.customer_name, o.status, payment.status
FROM stores_order o LEFT JOIN stores_payment payment ON payment.order_id = o.id WHERE o.customer_name LIKE 'Kim %'
"""
DELIVERIES = "SELECT id::text, webhook_id::text, event_type, status, attempt_count, created_at, finished_at FROM webhooks_delivery WHERE id >= %s::uuid"
SOLD = """
SELECT product.stock, coalesce(sum(item.quantity) FILTER (WHERE o.customer_name LIKE 'Kim %%' AND o.status <> 'CANCELLED'), 0)
FROM stores_product product LEFT JOIN stores_orderitem item ON item.product_id = product.id
LEFT JOIN stores_order o ON o.id = item.order_id
WHERE product.id = ANY(%s::uuid[]) GROUP BY product.id
"""
UNANSWERED = (
    "SELECT order_id::text FROM extensions_hookcall WHERE outcome <> 'ANSWERED' AND order_id IS NOT NULL"
)
CALLS = "SELECT id::text FROM activity_apicall"
# An uninstall cancels what still waits for the app, so it may never arrive. But it was written.
CANCELLED = """
SELECT delivery.webhook_id::text, event.type, event.data
FROM webhooks_delivery delivery
JOIN webhooks_event event ON event.id = delivery.event_id
JOIN webhooks_webhook webhook ON webhook.id = delivery.webhook_id
JOIN installations_installation installation ON installation.id = webhook.installation_id
WHERE delivery.status = 'CANCELLED' AND delivery.finished_at >= installation.uninstalled_at
"""

USUAL: Final = Clock()
Owed = tuple[str, str, str]  # the webhook's id, the event, its key


@dataclass(frozen=True, slots=True)
class Order:
    id: str
    marker: str
    status: str
    payment: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    webhook: str
    event: str
    status: str
    attempts: int
    created: float  # of `time.monotonic`
    finished: float | None


@dataclass
class Database:
    """What it holds in the end."""

    orders: list[Order] = field(default_factory=list)
    deliveries: dict[str, Delivery] = field(default_factory=dict)
    stock: list[tuple[int, int]] = field(default_factory=list)  # of each counted product: left and sold
    unanswered: set[str] = field(default_factory=set)  # orders of which a hook call had no answer
    calls: set[str] = field(default_factory=set)  # request ids in the log of calls
    cancelled: set[Owed] = field(default_factory=set)

    @classmethod
    def read(
        cls, session: "psycopg.Connection[Any]", products: list[str], clock: Clock = USUAL, since: float = 0.0
    ) -> "Database":
        """`since` leaves out older deliveries, which a week has made up. Its times are those of the run."""
        first = str(first_id_at(datetime.fromtimestamp(since, UTC)))

        def at(read: datetime | None) -> float | None:
            return clock.real(moment(read)) if read else None

        return cls(
            orders=[Order(*row) for row in session.execute(ORDERS)],
            deliveries={
                id_: Delivery(*rest, at(created) or 0.0, at(finished))
                for id_, *rest, created, finished in session.execute(DELIVERIES, [first])
            },
            stock=session.execute(SOLD, [products]).fetchall(),
            unanswered={id_ for (id_,) in session.execute(UNANSWERED)},
            calls={id_ for (id_,) in session.execute(CALLS)},
            cancelled={
                (webhook, event, key_of(event, json.loads(data)))
                for webhook, event, data in session.execute(CANCELLED)
            },
        )


@dataclass
class Run:
    """What the figures are made of."""

    ledger: Ledger
    receiver: Receiver
    windows: Windows
    database: Database
    world: dict[str, Any] = field(default_factory=dict)
    site: Site | None = None
    faults: Faults | None = None
    memory: Memory | None = None
    shop: Mirrored | None = None  # none where the release has no connections
    judged_from: float = 0.0  # what was before is the release's
    week: Passed | None = None
    clock: Clock = field(default_factory=Clock)
    erased_after: float = ERASED_AFTER

    @classmethod
    def gather(
        cls,
        site: Site,
        load: Load,
        receiver: Receiver,
        faults: Faults,
        memory: Memory,
        week: Week | None = None,
    ) -> "Run":
        clock = week.clock if week else USUAL
        products = [merchant["product"] for merchant in load.world["merchants"]]
        with site.postgres.connect("soak") as session:
            database = Database.read(session, products, clock, since=site.began if week else 0.0)
        return cls(
            ledger=load.ledger,
            receiver=receiver,
            windows=faults.so_far(),
            database=database,
            world=load.world,
            site=site,
            faults=faults,
            memory=memory,
            shop=load.shop.mirrored if load.shop else None,
            judged_from=faults.upgraded_at,
            week=week.result() if week else None,
            clock=clock,
            erased_after=clock_module.ERASED_AFTER if week else ERASED_AFTER,
        )

    @cached_property
    def by_webhook(self) -> dict[str, list[Install]]:
        """The installations; more than one of a webhook if the answer to an exchange of a code was lost."""
        found: dict[str, list[Install]] = {}
        for install in self.ledger.installs:
            found.setdefault(install.webhook, []).append(install)
        return found

    def app_of(self, webhook: str) -> int | None:
        return next((each.app for each in self.by_webhook.get(webhook, ())), None)

    @cached_property
    def logs(self) -> list[tuple[str, str]]:
        """Lines, each with the name of its process."""
        members = self.site.members if self.site else []
        return [
            (member.name, line)
            for member in members
            for line in member.log.read_text(errors="replace").splitlines()
        ]


def wait_until_settled(site: Site, within: float) -> None:
    """Until each delivery was confirmed or given up, at most so many seconds."""
    end = monotonic() + within
    while monotonic() < end:
        with site.postgres.connect("soak") as session:
            row = session.execute(WAITING).fetchone()
        if row and not row[0]:
            return
        sleep(0.5)


def moment(at: datetime | str) -> float:
    """Of `time.monotonic`, as the windows are. Without a zone a text is in UTC."""
    read = datetime.fromisoformat(at) if isinstance(at, str) else at
    return (read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() - time() + monotonic()


def entry(line: str) -> dict[str, Any]:
    """What a line of the log says. Empty if it is no JSON, or cut off where a process was killed."""
    with suppress(ValueError):
        if line.startswith("{"):
            return dict(json.loads(line))
    return {}


def owed(run: Run) -> Iterator[tuple[Install, Owed, float]]:
    """Events of each app that was installed from before a change began until it was accepted, and when that was."""
    ids = {order.marker: order.id for order in run.database.orders}
    placed = [
        ("order.created", ids.get(each.marker, each.marker), each.business, each.began, each.accepted)
        for each in run.ledger.placed
        if not each.id  # a shopper's; the others are among the changes
    ]
    changes = [
        (each.event, each.key, each.business, each.began, each.accepted) for each in run.ledger.changes
    ]
    for event, key, business, began, accepted in placed + changes:
        if run.ledger.is_undone(accepted):
            continue
        for install in run.ledger.installs:
            if install.business == business and install.covers(began, accepted):
                yield install, (install.webhook, event, key), accepted

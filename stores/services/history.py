"""The history of orders: who did what, and each app's part in the total."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from accounts.models import User
from common import lengths
from common.db.inserts import insert
from stores.enums import ActorKind, OrderChangeKind
from stores.hookpoints import HookPart
from stores.models import Order, OrderChange, OrderHookPart


@dataclass(frozen=True, slots=True)
class Actor:
    """The author of a change of an order. `id` is a person's or an app's."""

    kind: ActorKind
    id: UUID | None = None
    name: str = ""


SHOPPER: Final = Actor(ActorKind.SHOPPER)
SYSTEM: Final = Actor(ActorKind.SYSTEM)


def merchant(user: User) -> Actor:
    return Actor(ActorKind.MERCHANT, user.pk, user.name)


def staff(user: User) -> Actor:
    return Actor(ActorKind.STAFF, user.pk, user.name)


def change(
    order: Order,
    kind: OrderChangeKind,
    *,
    by: Actor,
    now: datetime,
    previous: str = "",
    status: str = "",
    note: str = "",
    amount: int | None = None,
) -> OrderChange:
    """A line of the history, not saved yet."""
    return OrderChange(
        order=order,
        at=now,
        kind=kind,
        previous=previous,
        status=status,
        note=note[: lengths.NOTE],
        amount=amount,
        actor=by.kind,
        actor_id=by.id,
        actor_name=by.name[:120],
    )


def record(order: Order, kind: OrderChangeKind, *, by: Actor, now: datetime, **details: Any) -> None:
    """Add a line with the details of `change`, in the transaction of the change."""
    insert(change(order, kind, by=by, now=now, **details))


def parts_of(order_id: UUID, parts: Sequence[HookPart], *, now: datetime) -> list[OrderHookPart]:
    """Rows of what apps answered, not saved yet."""
    return [
        OrderHookPart(
            order_id=order_id,
            point=part.point,
            provider=part.provider,
            app_name=part.app_name[:80],
            outcome=part.outcome,
            amount=part.amount,
            reason=part.reason[:300],
            instead=part.instead[:300],
            at=now,
        )
        for part in parts
    ]

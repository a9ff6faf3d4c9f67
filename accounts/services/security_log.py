"""The security log: what has happened to people's sign-ins, secrets, rights and apps.

Whatever changes one of these calls `record` in its own transaction. The table only grows; see `SecurityEvent`.
"""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import SecurityEvent, User
from accounts.sign_in.origins import NOWHERE, Origin
from common.times import iso

# The database refuses to remove what is younger than 365 days.
KEPT: Final = timedelta(days=400)


def record(
    *,
    user_id: UUID,
    kind: SecurityEventKind,
    about: str = "",
    actor: User | None = None,
    origin: Origin = NOWHERE,
) -> None:
    """Write a line for one person. `actor` is who did it, if that is someone else; `about` names the thing."""
    SecurityEvent.objects.create(
        user_id=user_id,
        kind=kind,
        about=about[:300],
        actor=actor if actor and actor.pk != user_id else None,
        device=origin.device,
        network=origin.network,
    )


def record_failed_sign_in(*, email: str, origin: Origin) -> None:
    """Write a failed sign-in down for the account of this address, if there is one."""
    if user := User.objects.with_email(email):
        record(user_id=user.pk, kind=SecurityEventKind.SIGN_IN_FAILED, origin=origin)


def remove_old(*, now: datetime | None = None) -> None:
    SecurityEvent.objects.filter(at__lt=(now or timezone.now()) - KEPT).delete()


def as_json_lines(since: datetime | None = None) -> Iterator[str]:
    """Every line from `since` on, oldest first, as a JSON object. `user` and `actor` are addresses, or null for an
    account that is gone."""
    found = SecurityEvent.objects.with_people("email").order_by("id")
    rows: QuerySet[SecurityEvent, Any] = (found.filter(at__gte=since) if since else found).values()
    for row in rows.iterator(chunk_size=1000):
        yield json.dumps(
            {
                "id": str(row["id"]),
                "at": iso(row["at"]),
                "kind": row["kind"],
                "userId": str(row["user_id"]),
                "user": row["user_is"],
                "actorId": row["actor_id"] and str(row["actor_id"]),
                "actor": row["actor_is"],
                "about": row["about"],
                "device": row["device"],
                "network": row["network"],
            }
        )

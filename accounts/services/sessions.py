"""Where a person is signed in: sessions of the pages and sign-ins to the API. Each can be ended by its owner."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Final, Literal

from django.contrib.auth import HASH_SESSION_KEY
from django.db import transaction
from django.utils import timezone

from accounts.enums import SecurityEventKind
from accounts.models import DeviceGrant, Session, SignIn, User
from accounts.services import security_log
from accounts.services.developer_tokens import end_tokens
from accounts.sign_in.origins import device_name
from common.ids import parse_id
from common.secrets import digest

Kind = Literal["session", "sign-in"]
SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A line of the page about one's sessions."""

    kind: Kind
    id: str
    device: str
    network: str
    signed_in_at: datetime
    last_seen_at: datetime
    is_current: bool


def open_sessions(user: User, *, current_key: str | None) -> list[OpenSession]:
    """The newest sessions that still work, the current one first and then by the last request.

    A session that began with an earlier password no longer works, although its row may still exist.
    """
    now = timezone.now()
    found = [*_of_pages(user, now, current_key), *_of_api(user, now)]
    found.sort(key=attrgetter("is_current", "last_seen_at"), reverse=True)
    return found[:SHOWN]


def _of_pages(user: User, now: datetime, current_key: str | None) -> Iterator[OpenSession]:
    current = digest(current_key) if current_key else None
    for row in Session.objects.usable(now).filter(user=user).order_by("-last_seen_at")[:SHOWN]:
        if row.get_decoded().get(HASH_SESSION_KEY) in user.session_hashes():
            yield _line("session", row, is_current=row.pk == current)


def _of_api(user: User, now: datetime) -> Iterator[OpenSession]:
    rows = SignIn.objects.usable(now).filter(user=user, auth_hash__in=user.session_hashes())
    for row in rows.order_by("-last_seen_at")[:SHOWN]:
        yield _line("sign-in", row)


def _line(kind: Kind, row: Session | SignIn, *, is_current: bool = False) -> OpenSession:
    return OpenSession(
        kind=kind,
        id=str(row.pk),
        device=device_name(row.device),
        network=row.network,
        signed_in_at=row.signed_in_at,
        last_seen_at=row.last_seen_at,
        is_current=is_current,
    )


@transaction.atomic
def end_session(*, user: User, kind: str, row_id: str) -> bool:
    """End one of the person's sessions; False where there is none of this id, or none any more."""
    if kind == "session":
        ended, _ = Session.objects.filter(user=user, pk=row_id).delete()
    else:
        ended = _end_sign_ins(user, row_id)
    if ended:
        security_log.record(user_id=user.pk, kind=SecurityEventKind.SESSION_ENDED)
    return bool(ended)


@transaction.atomic
def end_other_sessions(*, user: User, current_key: str | None, with_tokens: bool = False) -> None:
    """End all of the person's sessions except the one with this key, and `with_tokens` their developer tokens.

    Command lines that wait for a token get none in either case: no page lists them.
    """
    if with_tokens:
        end_tokens(user=user)
    DeviceGrant.objects.filter(user=user).delete()
    Session.objects.filter(user=user).exclude(pk=digest(current_key or "")).delete()
    _end_sign_ins(user)
    security_log.record(user_id=user.pk, kind=SecurityEventKind.SESSION_ENDED, about="All but the one in use")


def _end_sign_ins(user: User, row_id: str | None = None) -> int:
    rows = SignIn.objects.filter(user=user, ended_at=None)
    if row_id is not None:
        known_id = parse_id(row_id)
        rows = rows.filter(pk=known_id) if known_id else rows.none()
    return rows.update(ended_at=timezone.now())

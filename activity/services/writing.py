"""Writes a batch of calls: the log, its gaps, scope usage and deprecation usage, in one transaction.

Runs in the thread of `activity.log`, never in a request. On PostgreSQL rows go in by COPY. Secrets are masked here, before a
text is cut, so that a cut never leaves a part of one that the patterns no longer recognize.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import orjson
from django.db import connection, transaction
from django.db.models import Q

from activity.calls import Batch, RecordedCall, Use, counts_as_use, uses_of
from activity.models import ApiCall, DeprecatedUse, LogGap, ScopeUse, StoreScopeUse
from common.db.transactions import do_not_wait_for_the_disk
from common.observability.masking import mask, mask_path
from installations.models import Installation

KEPT_OF_BODY: Final = 4 * 1024  # bytes
READ_OF_BODY: Final = 2 * KEPT_OF_BODY  # the masks see this much of it
MAX_TEXT: Final = 2000  # characters of a path or message
MAX_DETAILS: Final = 50
# Of a `customer.data_erasure` in the feed. The event is blanked when the app has answered, at any later time; its log is not.
_ERASED: Final = re.compile(r'"customer":\{"email":(?:null|"[^"]*"?)(?:,"phone":(?:null|"[^"]*"?)\}?)?')

_FIELDS: Final = ApiCall._meta.local_concrete_fields
_NAMES: Final = [field.attname for field in _FIELDS]
_COPY: Final = "COPY {} ({}) FROM STDIN".format(
    ApiCall._meta.db_table, ", ".join(f'"{field.column}"' for field in _FIELDS)
)
_ADD_USE: Final = """
INSERT INTO activity_scopeuse (app_id, scope, route, day, count) VALUES (%s, %s, %s, %s, %s)
ON CONFLICT (app_id, scope, route, day) DO UPDATE SET count = activity_scopeuse.count + excluded.count
"""
_NOTE_USE_IN_STORE: Final = """
INSERT INTO activity_storescopeuse (app_id, installation_id, scope, last_day) VALUES (%s, %s, %s, %s)
ON CONFLICT (installation_id, scope) DO UPDATE SET last_day = excluded.last_day
  WHERE activity_storescopeuse.last_day < excluded.last_day
"""
_MOST_NOTED: Final = 20_000  # uses that a process remembers to have noted
_ADD_DEPRECATED_USE: Final = """
INSERT INTO activity_deprecateduse (app_id, installation_id, operation, first_at, last_at, count)
VALUES (%s, %s, %s, %s, %s, %s)
ON CONFLICT (installation_id, operation) DO UPDATE SET count = activity_deprecateduse.count + excluded.count,
  last_at = CASE WHEN excluded.last_at > activity_deprecateduse.last_at THEN excluded.last_at
    ELSE activity_deprecateduse.last_at END
"""


def write(batch: Batch) -> None:
    """Raises what the database raises; then nothing of the batch is written."""
    known = _with_installations(batch.calls)
    rows = [row_of(call) for call in known]
    in_stores = _uses_in_stores(known)
    uses = batch.uses + Counter(use for call in known for use in uses_of(call))
    with transaction.atomic():
        do_not_wait_for_the_disk()  # a log need not survive the crash of a server
        _insert(rows)
        LogGap.objects.bulk_create(
            LogGap(app_id=app_id, since=gap.since, until=gap.until, count=gap.count)
            for app_id, gap in batch.gaps.items()
        )
        _count(uses)
        _note_in_stores(in_stores)
        _count_deprecated([call for call in known if call.is_deprecated and call.route])
    if len(_noted) > _MOST_NOTED:
        _noted.clear()
    _noted.update(in_stores)


def _with_installations(calls: Sequence[RecordedCall]) -> list[RecordedCall]:
    """The calls whose installation is known. A token that is no longer valid is found by its digest."""
    lost = {call.token_digest for call in calls if call.installation is None}
    if not lost:
        return list(calls)
    found: dict[str, Installation] = {}
    held = Installation.objects.filter(Q(token_digest__in=lost) | Q(ended_token_digest__in=lost))
    for each in held.only("app_id", "is_test", "token_digest", "ended_token_digest"):
        found |= {str(each.ended_token_digest): each, str(each.token_digest): each}
    for call in calls:
        call.installation = call.installation or found.get(call.token_digest)
    return [call for call in calls if call.installation is not None]


def row_of(call: RecordedCall) -> tuple[Any, ...]:
    """The values of a row, in the order of the model's fields."""
    installation = call.installation
    is_test = installation.is_test
    message, details = _error(call) if call.status >= 400 else ("", None)
    return (
        call.request_id,
        call.at,
        installation.app_id,
        installation.pk,
        _clean(call.token_last_four),
        call.method[:16],
        call.route[:120],
        call.path if call.path == call.route else _kept_path(call.path, personal=not is_test),
        call.status,
        call.error_code,
        _kept(message, personal=not is_test) if message else "",
        details,
        round(call.duration * 1000),
        call.scope,
        call.has_scope,
        *call.rate,
        _clean(call.idempotency_key)[:255],
        _body(call.request_body) if is_test else "",
        _body(call.response_body) if is_test else "",
        call.trace_id,
    )


def _error(call: RecordedCall) -> tuple[str, list[dict[str, str]] | None]:
    """The message and details in an error's body."""
    try:
        body = orjson.loads(call.response_body)
        message, details = str(body["message"]), body.get("details")
    except (ValueError, TypeError, KeyError):  # not of our error shape, or longer than what is kept
        return "", None
    if not details:
        return message, None
    personal = not call.installation.is_test
    return message, [
        {name: _kept(str(value), personal=personal) for name, value in each.items()}
        for each in details[:MAX_DETAILS]
    ]


def _kept(text: str, *, personal: bool) -> str:
    return mask(_clean(text[: 2 * MAX_TEXT]), personal=personal)[:MAX_TEXT]


def _kept_path(path: str, *, personal: bool) -> str:
    return mask_path(_clean(path[: 2 * MAX_TEXT]), personal=personal)[:MAX_TEXT]


def _body(body: bytes) -> str:
    if not body:
        return ""
    text = mask(_clean(body[:READ_OF_BODY].decode("utf-8", "replace")), personal=False)
    text = _ERASED.sub('"customer":null', text)
    return text.encode()[:KEPT_OF_BODY].decode("utf-8", "ignore")


def _clean(text: str) -> str:
    """Without what PostgreSQL can't store."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode()


def _insert(rows: Sequence[tuple[Any, ...]]) -> None:
    if connection.vendor != "postgresql":
        ApiCall.objects.bulk_create(
            [ApiCall(**dict(zip(_NAMES, row, strict=True))) for row in rows], batch_size=40
        )
        return
    # By psycopg itself, so that Django sees an outage only if it is asked to.
    with connection.wrap_database_errors, connection.cursor() as cursor, cursor.copy(_COPY) as copy:
        copy.write("".join(map(_line, rows)))


def _line(row: tuple[Any, ...]) -> str:
    """A row in COPY's text format. By hand, because psycopg's adapters take five times as long for the same."""
    return "\t".join([_TEXTS[type(value)](value) for value in row]) + "\n"


def _escaped(text: str) -> str:
    return text.translate(_ESCAPES) if _SPECIAL.search(text) else text


_SPECIAL: Final = re.compile(r"[\\\t\n\r\b\f\v]")
_ESCAPES: Final = str.maketrans(
    {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f", "\v": "\\v"}
)
_TEXTS: Final[dict[type, Callable[[Any], str]]] = {
    str: _escaped,
    int: str,
    bool: lambda value: "t" if value else "f",
    type(None): lambda _: "\\N",
    datetime: datetime.isoformat,
    UUID: str,
    list: lambda details: _escaped(orjson.dumps(details).decode()),
}


def _count(uses: Counter[Use]) -> None:
    """Always in the same order, so that two processes don't wait for each other in a circle."""
    if uses:
        rows = sorted((*use, count) for use, count in uses.items())
        values = [(_app_key(app_id), scope, route, day, count) for app_id, scope, route, day, count in rows]
        with connection.cursor() as cursor:
            cursor.executemany(_ADD_USE, values)


StoreUse = tuple[UUID, UUID, str, date]  # app, installation, scope, day
_noted: set[StoreUse] = (
    set()
)  # by the one thread that writes; most calls are of a store and day that are noted already


def _uses_in_stores(calls: Sequence[RecordedCall]) -> set[StoreUse]:
    found = {
        (call.installation.app_id, call.installation.pk, scope, call.at.date())
        for call in calls
        if counts_as_use(call)
        for scope in call.scopes_used
    }
    return found - _noted


def _note_in_stores(uses: set[StoreUse]) -> None:
    """Always in the same order, for the same reason."""
    if uses:
        rows = sorted(uses, key=lambda use: use[1:])
        values = [
            [field.get_db_prep_value(value, connection) for field, value in zip(_NOTED, use, strict=True)]
            for use in rows
        ]
        with connection.cursor() as cursor:
            cursor.executemany(_NOTE_USE_IN_STORE, values)


_NOTED: Final[list[Any]] = [
    StoreScopeUse._meta.get_field(name) for name in ("app", "installation", "scope", "last_day")
]


def _count_deprecated(calls: Sequence[RecordedCall]) -> None:
    """In the same order for the same reason. Calls of which only the number was kept are not counted here."""
    found: dict[tuple[str, str], list[RecordedCall]] = {}
    for call in calls:
        found.setdefault((str(call.installation.pk), f"{call.method} {call.route}"[:140]), []).append(call)
    rows = []
    for (_, operation), those in sorted(found.items()):
        installation, times = those[0].installation, [call.at for call in those]
        values = (installation.app_id, installation.pk, operation, min(times), max(times), len(those))
        rows.append(
            [field.get_db_prep_value(value, connection) for field, value in zip(_USED, values, strict=True)]
        )
    if rows:
        with connection.cursor() as cursor:
            cursor.executemany(_ADD_DEPRECATED_USE, rows)


_USED: Final[list[Any]] = [
    DeprecatedUse._meta.get_field(name)
    for name in ("app", "installation", "operation", "first_at", "last_at", "count")
]


def _app_key(app_id: object) -> Any:
    """As the database stores a UUID."""
    return ScopeUse._meta.get_field("app").get_db_prep_value(app_id, connection)

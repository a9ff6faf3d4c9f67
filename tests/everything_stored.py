"""All that the installation stores, as text: each column of each table, mails, and files. For tests of what must be gone."""

import gzip
import json
from collections.abc import Container, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from cryptography.fernet import InvalidToken
from django.apps import apps
from django.contrib.sessions.backends.base import SessionBase
from django.core import mail
from django.core.files.storage import storages
from django.db import connection

from accounts.models import Business
from common.db.fields import cipher
from tests.businesses import OF_A_BUSINESS, models, split_models

Row = tuple[str, tuple[str, ...]]  # table and key


def rows_of(store: Business) -> dict[Row, Any]:
    """All rows that belong to a store, with what is in them."""
    found = {}
    for model in split_models():
        rows = model._base_manager.filter(**{OF_A_BUSINESS[model._meta.label]: store.pk})
        for row in rows:
            key = tuple(_key(getattr(row, each.attname)) for each in model._meta.pk_fields)
            found[model._meta.db_table, key] = {
                each.column: getattr(row, each.attname) for each in model._meta.local_concrete_fields
            }
    return found


def _key(value: Any) -> str:
    return str(value).replace("-", "")  # SQLite keeps UUIDs without


def columns(*, without: Container[Row] = ()) -> Iterator[tuple[str, str]]:
    """Where a text is, and the text. Tables are read from the database, so none can be forgotten here."""
    keys = {model._meta.db_table: [each.column for each in model._meta.pk_fields] for model in models()}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')  # noqa: S608
            names = [each[0] for each in cursor.description or ()]
            for row in cursor.fetchall():
                key = tuple(_key(row[names.index(each)]) for each in keys.get(table, ()))
                if (table, key) in without:
                    continue
                for name, value in zip(names, row, strict=True):
                    yield from ((f"{table}.{name}", text) for text in _readings(value))


def _readings(value: Any) -> Iterator[str]:
    """The value, and what it is when decrypted, decompressed and decoded."""
    if isinstance(value, bytes | memoryview):
        raw = bytes(value)
        yield raw.decode("utf-8", "replace")
        if raw[:2] == b"\x1f\x8b":
            yield gzip.decompress(raw).decode("utf-8", "replace")
        return
    text = value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
    yield text
    if "%" in text or "+" in text:
        yield unquote_plus(text)
    if text.startswith("gAAAA"):
        # An answer that is kept under an Idempotency-Key is opened by that key alone (`tests/wire/test_repeated_calls.py`).
        with suppress(InvalidToken):
            yield cipher().decrypt(text.encode()).decode()
    if "\\u" in text:
        yield text.encode("latin-1", "backslashreplace").decode("unicode_escape", "replace")


def sessions() -> Iterator[tuple[str, str]]:
    session: Any = apps.get_model("accounts", "Session")
    decoder: SessionBase = session.get_session_store_class()()
    for each in session.objects.all():
        yield "session", json.dumps(decoder.decode(each.session_data), default=str, ensure_ascii=False)


def mails() -> Iterator[tuple[str, str]]:
    for each in mail.outbox:
        yield f"mail {each.subject}", each.message().as_string()


def files(*folders: Path) -> Iterator[tuple[str, str]]:
    """Of these folders, and of every storage."""
    places = {*folders, *(Path(storages[name].location) for name in storages.backends if hasattr(storages[name], "location"))}  # fmt: skip
    for place in places:
        for path in place.rglob("*") if place.exists() else ():
            if path.is_file():
                raw = path.read_bytes()
                raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
                yield str(path), raw.decode("utf-8", "replace")

"""Encrypts every stored secret with the first of `FIELD_ENCRYPTION_KEYS`, while requests go on.

A row is changed only if it still has the text that was read, so a secret that is rotated meanwhile stays. Running twice does no
harm.
"""

from collections.abc import Iterator
from typing import Any, Final

from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet, InvalidToken
from django.apps import apps
from django.conf import settings
from django.db import connection, models, transaction

from common.db.fields import EncryptedTextField, cipher, decrypt

BATCH: Final = 500
IN_AUTHENTICATORS: Final = ("secret", "seed")


def reencrypt() -> Iterator[tuple[str, int]]:
    """Each kind of secret, and how many were encrypted with an earlier key."""
    # From the lowest app up: webhooks may copy a secret of their installation meanwhile, so they come after it.
    for model in reversed(apps.get_models()):
        for field in model._meta.concrete_fields:
            if isinstance(field, EncryptedTextField):
                yield model._meta.label, sum(_changed(model, field))
    yield (
        Authenticator._meta.label,
        sum(map(_authenticator, Authenticator.objects.values_list("pk", flat=True))),
    )


def decrypted(using: str) -> Iterator[tuple[str, int]]:
    """Each kind of secret in a database, and how many there are. Raises ImproperlyConfigured if one can't be decrypted."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if isinstance(field, EncryptedTextField):
                texts = model._base_manager.using(using).values_list(field.name, flat=True)
                yield model._meta.label, sum(1 for text in texts.iterator() if text)
    documents = Authenticator.objects.using(using).values_list("data", flat=True)
    secrets = [data[name] for data in documents.iterator() for name in IN_AUTHENTICATORS if data.get(name)]
    yield Authenticator._meta.label, len(list(map(decrypt, secrets)))


def _changed(model: type[models.Model], field: EncryptedTextField) -> Iterator[int]:
    """In batches by key. The ORM would decrypt what it reads."""
    assert model._meta.pk
    table, key, column = (
        connection.ops.quote_name(str(name))
        for name in (model._meta.db_table, model._meta.pk.column, field.column)
    )
    read = f"SELECT {key}, {column} FROM {table} {{}} ORDER BY {key} LIMIT {BATCH}"  # noqa: S608
    write = f"UPDATE {table} SET {column} = %s WHERE {key} = %s AND {column} = %s"  # noqa: S608
    rows = _rows(read.format(""), [])
    while rows:
        for primary, stored in rows:
            if is_stale(stored):
                with connection.cursor() as cursor:
                    cursor.execute(write, [rotated(stored), primary, stored])
                    yield cursor.rowcount
        rows = _rows(read.format(f"WHERE {key} > %s"), [rows[-1][0]])


def _rows(statement: str, parameters: list[Any]) -> list[tuple[Any, str]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        return cursor.fetchall()


@transaction.atomic
def _authenticator(primary: int) -> int:
    """An authenticator app or a set of recovery codes, whose secrets are inside of a document."""
    row = Authenticator.objects.select_for_update().filter(pk=primary).first()
    stale = [name for name in IN_AUTHENTICATORS if row and is_stale(row.data.get(name))]
    if row is None or not stale:
        return 0
    row.data |= {name: rotated(row.data[name]) for name in stale}
    row.save(update_fields=["data"])
    return 1


def is_stale(stored: str | None) -> bool:
    """Whether it was encrypted with another key than the first."""
    if not stored:
        return False
    try:
        Fernet(settings.FIELD_ENCRYPTION_KEYS[0]).decrypt(stored.encode())
    except InvalidToken:
        return True
    return False


def rotated(stored: str) -> str:
    """The same text, encrypted with the first key."""
    return cipher().rotate(stored.encode()).decode()

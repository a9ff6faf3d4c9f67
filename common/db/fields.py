"""Model fields for all apps, conditions on what they hold, and times as the text of the APIs."""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models, transaction
from django.db.models import BooleanField, Func, TextField, Value

from common.contacts import validate_email, validate_phone

BATCH: Final = 500  # rows


@lru_cache
def _cipher(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


def cipher() -> MultiFernet:
    """Encrypts with the first of `FIELD_ENCRYPTION_KEYS`, and decrypts with any of them (docs/operations-run.md)."""
    return _cipher(tuple(settings.FIELD_ENCRYPTION_KEYS))


def encrypt(text: str) -> str:
    """Text for a column that holds secrets. Only `decrypt` reads it."""
    return cipher().encrypt(text.encode()).decode()


def decrypt(stored: str) -> str:
    """The text that `encrypt` was given. Raises ImproperlyConfigured without the key."""
    try:
        return cipher().decrypt(stored.encode()).decode()
    except InvalidToken as error:
        raise ImproperlyConfigured(
            "A stored secret was encrypted with a key that is missing from FIELD_ENCRYPTION_KEYS. "
            "Add that key at the end."
        ) from error


class EncryptedTextField(models.TextField):
    """Text that is encrypted in the database (Fernet: AES-128-CBC with HMAC) and plain in Python.

    The keys are separate from `SECRET_KEY`, so that either can change without the other. Queries can't filter by such a
    field.
    """

    description = "Encrypted text"

    def get_prep_value(self, value: str | None) -> str | None:
        return None if value is None else encrypt(value)

    def from_db_value(self, value: str | None, expression: object, connection: object) -> str | None:
        return None if value is None else decrypt(value)


class JsonTextField(models.JSONField):
    """A JSON document that keeps the order of its keys, which `jsonb` would lose.

    It is stored as text, so queries can't look inside.
    """

    description = "JSON, kept as text"

    def get_internal_type(self) -> str:
        return "TextField"

    def get_db_prep_value(self, value: Any, connection: object, prepared: bool = False) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def from_db_value(self, value: str | None, expression: object, connection: object) -> Any:
        return None if value is None else json.loads(value)


class EmailField(models.EmailField):
    """An address that has a normal form. It is kept as it was typed."""

    default_validators = [validate_email]

    def deconstruct(self) -> Any:
        name, _path, args, options = super().deconstruct()
        return name, "django.db.models.EmailField", args, options


class PhoneField(models.CharField):
    """A phone number that has a normal form. It is kept as it was typed."""

    default_validators = [validate_phone]

    def deconstruct(self) -> Any:
        name, _path, args, options = super().deconstruct()
        return name, "django.db.models.CharField", args, options


class KeyField(models.CharField):
    """The normal form of what another field of the row holds, by which rows are found. It follows that field at each save.

    Null in a row that a version before wrote, until `complete` fills it. `update()` has to change both.
    """

    def __init__(self, *args: Any, of: str = "", key: Callable[[str], str] = str, **options: Any) -> None:
        super().__init__(*args, **{"null": True, "editable": False} | options)
        self.of, self.key = of, key

    def deconstruct(self) -> Any:
        name, _path, args, options = super().deconstruct()
        return name, "django.db.models.CharField", args, options

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        value = self.key(getattr(model_instance, self.of))
        setattr(model_instance, self.attname, value)
        return value


class CodePointField(models.CharField):
    """Text that the database sorts and compares by its code points, whatever its own language is."""

    def db_parameters(self, connection: Any) -> Any:
        collation = "C" if connection.vendor == "postgresql" else "BINARY"
        return super().db_parameters(connection) | {"collation": collation}


class HasItem(Func):
    """Whether the JSON list of texts in a column has this one. Django's `contains` would not work on SQLite."""

    arg_joiner = " ? "
    template = "%(expressions)s"
    output_field = BooleanField()

    def __init__(self, column: str, text: str) -> None:
        super().__init__(column, Value(text))

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        template = "EXISTS (SELECT 1 FROM json_each(%(expressions)s))"
        return self.as_sql(compiler, connection, template=template, arg_joiner=") WHERE value = (", **context)


def complete(model: type[models.Model], keys: Mapping[str, Callable[[str], str]]) -> int:
    """Fill the columns of keys in rows of a version that had none.

    Give each row without keys its own, and return how many got one. `keys` names the typed columns.

    A row changes only while what was typed in it is still there: it may be erased meanwhile by a process that knows no
    keys.
    """
    first, rows, done, last = next(iter(keys)), model._base_manager, 0, None
    keyless: Any = rows.filter((f"{first}_key", None)).order_by("pk")
    while batch := list((keyless.filter(pk__gt=last) if last else keyless).values("pk", *keys)[:BATCH]):
        with transaction.atomic():
            for row in batch:
                done += rows.filter(**row).update(
                    **{f"{each}_key": key(row[each]) for each, key in keys.items()}
                )
        last = batch[-1]["pk"]
    return done


# --- Times as the text of the APIs -------------------------------------------------------------------

# A list of 50 products has 100 times. To parse and format them again costs a web process a fifth of the request.


class IsoText(Func):
    """What `common.times.iso` makes of a column of times."""

    template = """to_char(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""
    output_field = TextField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        # A text without decimals for a whole second, with six for any other.
        template = "replace(substr(%(expressions)s || '.000', 1, 23), ' ', 'T') || 'Z'"
        return self.as_sql(compiler, connection, template=template, **context)

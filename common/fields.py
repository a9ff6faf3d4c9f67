"""Model fields that every app may use."""

import json
from functools import lru_cache
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models


@lru_cache
def _cipher(keys: tuple[str, ...]) -> MultiFernet:
    return MultiFernet([Fernet(key) for key in keys])


def cipher() -> MultiFernet:
    """Encrypts with the first of `FIELD_ENCRYPTION_KEYS` and decrypts with any: put a new key first."""
    return _cipher(tuple(settings.FIELD_ENCRYPTION_KEYS))


def decrypt(stored: str) -> str:
    """What an `EncryptedTextField` holds, from the text in its column. Raises ImproperlyConfigured."""
    try:
        return cipher().decrypt(stored.encode()).decode()
    except InvalidToken as error:
        raise ImproperlyConfigured(
            "A stored secret was encrypted with a key that FIELD_ENCRYPTION_KEYS does not hold. "
            "Put the former key back, after the new one."
        ) from error


class EncryptedTextField(models.TextField):
    """Text that is encrypted at rest (Fernet: AES-128-CBC with HMAC) and clear in Python.

    The keys stand apart from `SECRET_KEY`, so that either can be changed without the other. Nothing can
    be looked up by such a column.
    """

    description = "Encrypted text"

    def get_prep_value(self, value: str | None) -> str | None:
        return None if value is None else cipher().encrypt(value.encode()).decode()

    def from_db_value(self, value: str | None, expression: object, connection: object) -> str | None:
        return None if value is None else decrypt(value)


class JsonTextField(models.JSONField):
    """A JSON document that comes back as it was given: the order of keys too, which `jsonb` would lose.

    Kept as text, so nothing can be looked up inside it.
    """

    description = "JSON, kept as text"

    def get_internal_type(self) -> str:
        return "TextField"

    def get_db_prep_value(self, value: Any, connection: object, prepared: bool = False) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False, separators=(",", ":"))

    def from_db_value(self, value: str | None, expression: object, connection: object) -> Any:
        return None if value is None else json.loads(value)

"""Databases of their own for tests of upgrades."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from django.db import connection


@contextmanager
def scratch_database() -> Iterator[None]:
    """The default connection leads to a new, empty database."""
    original, name = connection.settings_dict["NAME"], f"upgrade_{uuid4().hex}"
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name} TEMPLATE template0")
    _lead_to(name)
    try:
        yield
    finally:
        _lead_to(original)
        with connection.cursor() as cursor:
            cursor.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _lead_to(name: str) -> None:
    connection.close()
    connection.settings_dict["NAME"] = name

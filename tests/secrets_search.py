"""Finding a secret in what a system keeps, in whatever form it was written."""

import base64
import logging
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, quote_plus

from django.core import mail
from django.core.cache import cache
from django.db import connection

PREFIXES = ("fbat_test_", "fbat_", "fbcs_", "whsec_test_", "whsec_")


def forms(secret: str) -> dict[str, bytes]:
    """The ways to write a secret, by name; its prefix counts for nothing.

    Base64 has three, by where in a longer text the secret begins: the letters that depend on its neighbours are left
    out of each.
    """
    raw = bare(secret).encode()
    found = {
        "as it is": raw,
        "URL-encoded": quote(raw, safe="").encode(),
        "form-encoded": quote_plus(raw).encode(),
        "hex": raw.hex().encode(),
        "HEX": raw.hex().upper().encode(),
    }
    for shift in range(3):
        whole = base64.b64encode(b"\0" * shift + raw)
        inner = whole[(0, 2, 3)[shift] : len(whole) - (0 if (shift + len(raw)) % 3 == 0 else 4)]
        found[f"base64, {shift}"] = inner
        found[f"base64 for URLs, {shift}"] = inner.replace(b"+", b"-").replace(b"/", b"_")
    if secret.startswith("whsec_"):
        found["decoded"] = base64.b64decode(raw)
        found["decoded, in hex"] = found["decoded"].hex().encode()
    return found


def bare(secret: str) -> str:
    prefix = next((each for each in PREFIXES if secret.startswith(each)), "")
    return secret.removeprefix(prefix)


def where(secrets: dict[str, str], places: dict[str, bytes]) -> list[str]:
    """Every hit, as "place: name of the secret, form"."""
    return [
        f"{place}: {name}, {form}"
        for name, secret in secrets.items()
        for form, text in forms(secret).items()
        for place, content in places.items()
        if text in content
    ]


def database() -> dict[str, bytes]:
    """Every table with all its columns, one value per line."""
    places = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            places[f"table {table}"] = b"\n".join(_bytes(value) for row in cursor for value in row)
    return places


def cached() -> dict[str, bytes]:
    """Keys and values of the cache."""
    held = cache._cache  # noqa: SLF001 - Django has no public way to list what its caches hold
    if isinstance(held, dict):  # the in-process one
        return {"cache": b"\n".join(_bytes(key) + b"\n" + _bytes(value) for key, value in held.items())}
    client = held.get_client()
    lines = []
    for key in client.scan_iter(match=f"*{cache.key_prefix}*"):
        lines.append(key)
        if client.type(key) == b"string":
            lines.append(client.get(key) or b"")
    return {"cache": b"\n".join(lines)}


def mailed() -> dict[str, bytes]:
    return {f"mail {number}": bytes(each.message()) for number, each in enumerate(mail.outbox)}


def _bytes(value: Any) -> bytes:
    if isinstance(value, bytes | memoryview):
        return bytes(value)
    return str(value).encode(errors="replace")


@dataclass
class Log(logging.Handler):
    """Everything that is logged while it listens, as with LOG_LEVEL=DEBUG and Django's own loggers turned up as far.

    The loggers that the settings name keep their levels. SQL alone is left out: Django logs it, with its parameters,
    only where a developer turns that on under DEBUG.
    """

    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.setFormatter(logging.Formatter("%(name)s %(message)s"))

    def __hash__(self) -> int:
        return id(self)

    def emit(self, record: logging.LogRecord) -> None:
        if record.name == "django.db.backends":
            return
        self.lines.append(self.format(record) + "\n" + repr(getattr(record, "args", "")))

    def __enter__(self) -> "Log":
        self._levels = [
            (logger, logger.level) for logger in (logging.getLogger(), logging.getLogger("django"))
        ]
        for logger, _ in self._levels:
            logger.setLevel(logging.DEBUG)
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)
        for logger, level in self._levels:
            logger.setLevel(level)

    def written(self) -> dict[str, bytes]:
        return {"log": "\n".join(self.lines).encode(errors="replace")}

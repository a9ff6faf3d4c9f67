"""Bodies that are nearly right: a good one with one value replaced by something that does not belong there."""

import json
from collections.abc import Iterator
from typing import Any

# As JSON text, since not all of it is anything that Python's encoder writes.
STRANGE = {
    "null": "null",
    "true": "true",
    "zero": "0",
    "negative": "-1",
    "fraction": "1.5",
    "whole float": "1.0",
    "negative zero": "-0.0",
    "beyond 64 bits": str(10**30),
    "beyond a float": "1e400",
    "smallest float": "5e-324",
    "empty": '""',
    "blank": '"   "',
    "NUL": '"a\\u0000b"',
    "control characters": '"\\u0001\\u001b\\u007f"',
    "bidirectional": '"\\u202etxt\\u200b"',
    "astral": '"\\ud83e\\udd50"',
    "line ends": '"a\\r\\nSet-Cookie: a=b"',
    "long": json.dumps("x" * 20_000),
    "list": "[]",
    "nested list": "[[[]]]",
    "list of null": "[null]",
    "list of NUL": '["a\\u0000b"]',
    "object": "{}",
    "object with odd keys": '{"": 1, "\\u0000": 2, "__proto__": 3}',
}

# Never JSON, or never an object: refused whatever the endpoint.
BROKEN = {
    "not JSON": b"{",
    "NaN": b'{"a": NaN}',
    "Infinity": b'{"a": -Infinity}',
    "lone surrogate": b'{"a": "\\ud800"}',
    "broken UTF-8": b'{"a": "\xff"}',
    "a NUL byte": b'{"a": "\x00"}',
    "byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": '{"a": 1}'.encode("utf-16"),
    "array": b"[]",
    "null": b"null",
    "string": b'"a"',
    "number": b"1e400",
    "two documents": b"{}{}",
    "trailing comma": b'{"a": 1,}',
    "nested objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "nested arrays": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
}

_MARK = "@@strange@@"


def strange_bodies(good: dict[str, Any]) -> Iterator[tuple[str, bytes]]:
    """Each value of a good body, inner ones too, replaced by each of `STRANGE`; with what was done."""
    for path in _paths(good):
        marked = json.dumps(_replaced(good, path))
        for name, text in STRANGE.items():
            yield f"{path} = {name}", marked.replace(f'"{_MARK}"', text).encode()


def _paths(value: Any) -> Iterator[tuple[str | int, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (key,)
        yield from ((key, *rest) for rest in _paths(each))


def _replaced(value: Any, path: tuple[str | int, ...]) -> Any:
    if not path:
        return _MARK
    copy = value.copy()
    copy[path[0]] = _replaced(value[path[0]], path[1:])
    return copy

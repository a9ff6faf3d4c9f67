"""The JSON lines of the log."""

import linecache
import logging
import sys
import tracemalloc
from pathlib import Path
from runpy import run_path
from types import TracebackType

import orjson

from common.logs import JsonFormatter

Failure = tuple[type[BaseException], BaseException, TracebackType | None]


def failure(path: Path) -> Failure:
    """An exception with a cause, in a group, out of a file of two megabytes."""
    source = "\n".join([
        "def fail():",
        "    try:",
        "        {}['missing']",
        "    except KeyError as error:",
        "        raise ValueError('a defect') from error",
        *["# a line of a long file" + "." * 60] * 25_000,
    ])  # fmt: skip
    path.write_text(source)
    fail = run_path(str(path))["fail"]
    try:
        try:
            fail()
        except ValueError as error:
            raise ExceptionGroup("two", [error, TypeError("another")]) from None
    except ExceptionGroup as group:
        return type(group), group, group.__traceback__
    raise AssertionError("nothing was raised")


def test_a_traceback_is_written_as_python_does(tmp_path: Path) -> None:
    failed = failure(tmp_path / "long.py")
    record = logging.LogRecord("shop", logging.ERROR, __file__, 1, "It failed.", (), failed)
    written = orjson.loads(JsonFormatter().format(record))["exc_info"]
    assert "    raise ValueError('a defect') from error" in written
    assert "    ~~^^^^^^^^^^^" in written
    assert written == logging.Formatter().formatException(failed)


def test_its_files_are_not_read_into_memory(tmp_path: Path) -> None:
    failed = failure(tmp_path / "long.py")
    tracemalloc.start()
    try:
        JsonFormatter().formatException(failed)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 500_000


def test_what_others_have_read_is_forgotten() -> None:
    try:
        raise ValueError
    except ValueError:
        failed = sys.exc_info()
    linecache.getline(__file__, 1)
    JsonFormatter().formatException(failed)
    assert not linecache.cache

"""The JSON lines of the log."""

import linecache
import logging
import sys
import tracemalloc
from pathlib import Path
from runpy import run_path
from types import TracebackType

import orjson

from common.observability.logs import JsonFormatter

Failure = tuple[type[BaseException], BaseException, TracebackType | None]

FILES = 8
SOURCE = """
def call(rest):
    if rest:
        return rest[0](rest[1:])
    try:
        {}["missing"]
    except KeyError as error:
        raise ValueError("a defect") from error
""" + ("# a line of a long file" + "." * 76 + "\n") * 5_000  # fmt: skip


def failure(folder: Path) -> Failure:
    """An exception with a cause, in a group, out of eight files of 500 KB each."""
    calls = []
    for number in range(FILES):
        path = folder / f"long{number}.py"
        path.write_text(SOURCE)
        calls.append(run_path(str(path))["call"])
    try:
        try:
            calls[0](calls[1:])
        except ValueError as error:
            raise ExceptionGroup("two", [error, TypeError("another")]) from None
    except ExceptionGroup as group:
        return type(group), group, group.__traceback__
    raise AssertionError("nothing was raised")


def test_a_traceback_is_written_as_python_does(tmp_path: Path) -> None:
    failed = failure(tmp_path)
    record = logging.LogRecord("shop", logging.ERROR, __file__, 1, "It failed.", (), failed)
    written = orjson.loads(JsonFormatter().format(record))["exc_info"]
    assert '    raise ValueError("a defect") from error' in written
    assert "    ~~^^^^^^^^^^^" in written
    assert written == logging.Formatter().formatException(failed)


def test_its_files_are_not_in_memory_all_at_once(tmp_path: Path) -> None:
    failed = failure(tmp_path)
    tracemalloc.start()
    try:
        JsonFormatter().formatException(failed)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < FILES * len(SOURCE) / 2


def test_what_others_have_read_is_forgotten() -> None:
    try:
        raise ValueError
    except ValueError:
        failed = sys.exc_info()
    linecache.getline(__file__, 1)
    JsonFormatter().formatException(failed)
    assert not linecache.cache

"""The JSON lines of the log."""

import linecache
import logging
import sys

import orjson

from common.logs import JsonFormatter


def test_traceback_shows_its_lines_and_leaves_no_source_in_memory() -> None:
    try:
        raise ValueError("a defect")
    except ValueError:
        record = logging.LogRecord("shop", logging.ERROR, __file__, 1, "It failed.", (), sys.exc_info())
    written = orjson.loads(JsonFormatter().format(record))
    assert 'raise ValueError("a defect")' in written["exc_info"]
    assert not linecache.cache

"""How many statements a page costs."""

from unittest.mock import patch

from django.core.cache.backends.dummy import DummyCache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext


def statements_of(browser: Client, path: str) -> int:
    """Of a page that was opened before, so that nothing is made for the first time. The rows that a store keeps for ten seconds are read
    each time: whether it is still there would depend on the clock.
    """
    with patch("merchants.frame.cache", DummyCache("", {})):
        browser.get(path)
        with CaptureQueriesContext(connection) as captured:
            assert browser.get(path).status_code == 200
    return len(captured)

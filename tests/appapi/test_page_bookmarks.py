"""Where rows of long lists were last seen."""

from uuid import uuid4

import pytest

from appapi import pages as places
from appapi.pages import PageBookmarks

ONE, TWO = uuid4(), uuid4()


def test_nearest_place_is_the_row_itself_or_the_next_one_above() -> None:
    known = PageBookmarks()
    known.remember("list", {100: ONE, 90: TWO})
    assert known.nearest("list", 100) == (ONE, 0)
    assert known.nearest("list", 91) == (ONE, 9)
    assert known.nearest("list", 90) == (TWO, 0)
    assert known.nearest("list", 1) == (TWO, 89)
    assert known.nearest("list", 101) is None


def test_place_of_one_list_says_nothing_of_another() -> None:
    known = PageBookmarks()
    known.remember("list", {100: ONE})
    assert known.nearest("other", 100) is None


def test_place_is_forgotten_after_a_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    known, now = PageBookmarks(), 1000.0
    monkeypatch.setattr(places.time, "monotonic", lambda: now)
    known.remember("list", {100: ONE})
    now += places.KEPT - 1
    known.remember("list", {90: TWO})
    assert known.nearest("list", 95) == (ONE, 5)
    now += 1
    assert known.nearest("list", 95) is None
    assert known.nearest("list", 90) == (TWO, 0)


def test_memory_has_a_bound_and_keeps_what_was_used_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "LISTS", 2)
    monkeypatch.setattr(places, "PER_LIST", 2)
    known = PageBookmarks()
    known.remember("first", {1: ONE})
    known.remember("second", {1: ONE})
    known.remember("first", {2: ONE})
    known.remember("third", {1: ONE})
    assert known.nearest("second", 1) is None
    assert known.nearest("first", 1) == (ONE, 0)
    known.remember("third", {2: ONE, 3: TWO})
    assert known.nearest("third", 1) == (ONE, 1)

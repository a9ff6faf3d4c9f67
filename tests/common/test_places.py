"""Places for work of our own, within one process."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connections, transaction
from django.http import HttpRequest, StreamingHttpResponse

from common import places
from common.places import Busy, Places, Work
from common.web import visits
from common.web.visits import VisitsMiddleware
from tests.strangers import others, own_places_taken, visit, working

THREADS = 8  # so there are two places, and a person may have one


@pytest.fixture(autouse=True)
def own(settings: Any) -> Iterator[Places]:
    settings.WEB_THREADS = THREADS
    places.own_work.cache_clear()
    yield places.own_work()
    places.own_work.cache_clear()


RULE = pytest.mark.spec("Contract 15 Doors", "Long work of our own takes one of a second set of places")


@RULE
def test_person_has_half_of_the_places_and_others_the_rest() -> None:
    with others("dana", work=working):
        visit(lambda: working("sam"))
        with others("sam", work=working), others(*["dana"] * 2, work=_try), pytest.raises(Busy) as busy:
            visit(lambda: working("mira", free=False))
    assert (busy.value.status, busy.value.headers, busy.value.code) == (
        503,
        {"Retry-After": "5"},
        "service_busy",
    )
    visit(lambda: working("dana"))


def _try(name: str) -> None:
    """Without a free thread no request waits."""
    with pytest.raises(Busy):
        working(name, free=False)


def test_passwords_are_hashed_in_any_place() -> None:
    def sign_in(name: str) -> None:
        places.require(Work.PASSWORD)

    with others("one", "two", work=sign_in):
        visit(lambda: _try("another"))


def test_request_that_has_a_place_needs_no_other() -> None:
    with others("dana", work=working):
        visit(lambda: (working("sam"), working("sam"), places.require(Work.SEARCH)))


@RULE
@pytest.mark.timed
def test_place_is_waited_for() -> None:
    over = threading.Timer(0.3, lambda: None)
    began = time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        with own_places_taken():
            waiting = pool.submit(visit, lambda: working("mira"))
            over.start()
            over.join()
            assert not waiting.done()
        waiting.result(5)
    assert 0.3 <= time.monotonic() - began < 3


@pytest.mark.timed
def test_wait_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "WAIT", 0.2)
    with own_places_taken(), pytest.raises(Busy):
        visit(lambda: working("mira"))


@RULE
@pytest.mark.parametrize("busy", [THREADS - 4, THREADS - 3])
@pytest.mark.timed
def test_no_request_begins_to_wait_with_less_than_a_quarter_of_the_threads_free(
    monkeypatch: pytest.MonkeyPatch, busy: int
) -> None:
    """Two requests work, `busy` are at something else, and this is the next."""
    monkeypatch.setattr(places, "WAIT", 0.2)
    with own_places_taken(), others(*["else"] * (busy - 1), work=lambda _: None):
        began = time.monotonic()
        with pytest.raises(Busy):
            visit(lambda: working("mira"))
        waited = time.monotonic() - began >= 0.2
    assert waited == (busy == THREADS - 4)


@pytest.mark.timed
def test_wait_ends_while_every_thread_is_taken() -> None:
    with own_places_taken(), ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(visit, lambda: working("mira"))
        with others(*["else"] * (THREADS - 2), work=lambda _: None), pytest.raises(Busy):
            waiting.result(2)


@pytest.mark.django_db(transaction=True)
def test_request_that_holds_locks_does_not_wait() -> None:
    def work() -> None:
        with transaction.atomic():
            working("mira")

    began = time.monotonic()
    with own_places_taken(), pytest.raises(Busy):
        visit(work)
    assert time.monotonic() - began < 2
    connections.close_all()


@pytest.mark.django_db  # the end of an answer looks at a session that an earlier test left
def test_place_is_kept_until_the_answer_was_sent(own: Places) -> None:
    def view(request: HttpRequest) -> StreamingHttpResponse:
        working("dana")
        return StreamingHttpResponse(["a line"])

    answer = VisitsMiddleware(view)(HttpRequest())
    assert visits.current() is None
    with pytest.raises(Busy):
        visit(lambda: working("dana", free=False))
    answer.close()
    visit(lambda: working("dana"))
    assert not visits.in_progress


def test_thread_that_answers_no_request_needs_no_place() -> None:
    with own_places_taken():
        places.require(Work.PICTURE)

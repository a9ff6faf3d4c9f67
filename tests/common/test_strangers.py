"""The bound of those who wait for servers of others, within one process."""

import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from typing import Any

import pytest

from common import strangers
from common.http import transport
from common.strangers import CROWDED, FREE, NoPlace
from tests.receivers import Answer, Receiver
from tests.strangers import others, visit

THREADS = 8  # so there are two places, and an app may have one


@pytest.fixture(autouse=True)
def bound(settings: Any) -> Iterator[strangers.Bound]:
    settings.WEB_THREADS = THREADS
    strangers.bound.cache_clear()
    yield strangers.bound()
    strangers.bound.cache_clear()


def seconds_until_refused(*who: str) -> float:
    began = time.monotonic()
    with pytest.raises(NoPlace) as refused:
        strangers.result(Future[None](), *who)
    assert (refused.value.status, refused.value.headers) == (503, {"Retry-After": "10"})
    return time.monotonic() - began


RULE = pytest.mark.spec("Contract 15 Doors", "Who waits for strangers needs a place after half a second")


@pytest.mark.long
@RULE
@pytest.mark.timed
def test_half_a_second_of_a_request_is_free_and_the_rest_needs_a_place() -> None:
    def work() -> tuple[float, float]:
        return seconds_until_refused("mine"), seconds_until_refused("mine")

    with others("one", "two"):
        first, second = visit(work)
    assert FREE <= first < FREE + 0.3
    assert second < 0.1


@RULE
def test_what_is_there_in_time_needs_no_place() -> None:
    quick = Future[str]()
    threading.Timer(0.2, quick.set_result, ["answer"]).start()
    with others("one", "two"):
        assert visit(lambda: strangers.result(quick, "mine")) == "answer"


@pytest.mark.long
@RULE
@pytest.mark.timed
def test_who_has_a_place_waits_to_the_end() -> None:
    slow = Future[str]()
    threading.Timer(FREE + 0.3, slow.set_result, ["answer"]).start()
    assert visit(lambda: strangers.result(slow, "mine")) == "answer"


@pytest.mark.spec("Contract 15 Doors", "One app or store has at most half of the places")
def test_app_has_half_of_the_places(bound: strangers.Bound) -> None:
    assert (bound.number, bound.for_each) == (2, 1)
    with others("mine"):
        assert not visit(lambda: strangers.has_room("mine"))
        assert not visit(lambda: strangers.has_room("another", "mine"))
        assert visit(lambda: strangers.has_room("another"))
    assert visit(lambda: strangers.has_room("mine"))


def test_place_is_kept_to_the_end_of_the_request_and_counts_for_all_it_waited_for() -> None:
    def work() -> None:
        strangers.require("mine")
        strangers.require("mine", "store")

    with others("-", work=lambda _: work()):
        assert not visit(lambda: strangers.has_room("store"))
        assert visit(lambda: strangers.has_room("another"))
    with others("one", "two"):
        assert not visit(lambda: strangers.has_room("store"))


@pytest.mark.parametrize(("threads", "places", "for_each"), [(1, 1, 1), (4, 1, 1), (8, 2, 1), (16, 4, 2)])
def test_places_are_a_quarter_of_the_threads(threads: int, places: int, for_each: int) -> None:
    made = strangers.Bound(threads)
    assert (made.number, made.for_each) == (places, for_each)


@pytest.mark.timed
def test_wait_is_short_while_every_thread_is_taken() -> None:
    with others("one", "two", *["busy"] * 5, work=lambda name: name == "busy" or strangers.require(name)):
        assert CROWDED <= visit(lambda: seconds_until_refused("mine")) < FREE


@pytest.mark.timed
def test_app_that_was_quick_is_waited_for_longer_while_every_thread_is_taken() -> None:
    quick, now = Future[str](), Future[str]()
    now.set_result("")
    threading.Timer(0.2, quick.set_result, ["answer"]).start()
    with others("one", "two", *["busy"] * 5, work=lambda name: name == "busy" or strangers.require(name)):
        visit(lambda: strangers.result(now, "mine"))
        assert visit(lambda: strangers.result(quick, "mine")) == "answer"


@pytest.mark.timed
def test_trial_needs_a_place_at_once_while_every_thread_is_taken() -> None:
    def work() -> None:
        with pytest.raises(NoPlace):
            strangers.enter("mine")

    with others("one", "two", *["busy"] * 5, work=lambda name: name == "busy" or strangers.require(name)):
        visit(work)
    with others("one", "two"):
        visit(lambda: strangers.enter("mine"))


def test_view_without_the_mark_waits_for_nobody(caplog: pytest.LogCaptureFixture) -> None:
    assert visit(lambda: seconds_until_refused("mine"), is_marked=False) < 0.1
    assert not visit(lambda: strangers.may_wait("mine"), is_marked=False)
    assert "isn't marked" in caplog.text


def test_thread_that_answers_no_request_is_not_bound() -> None:
    slow = Future[str]()
    threading.Timer(0.2, slow.set_result, ["answer"]).start()
    with others("one", "two"):
        assert strangers.may_wait("mine")
        assert strangers.result(slow, "mine") == "answer"


@pytest.mark.long
def test_request_that_is_no_longer_waited_for_is_broken_off() -> None:
    with Receiver() as receiver, others("one", "two"):
        closed = threading.Event()

        def notice(connection: Any) -> None:
            if connection.recv(1) == b"":
                closed.set()

        receiver.respond_with(Answer(script=notice))
        options: transport.Options = {"headers": {}, "body": b"", "timeout": 10.0}
        with pytest.raises(NoPlace):
            visit(lambda: transport.send(receiver.url, "mine", **options))
        assert closed.wait(2)
        receiver.respond_with(200)
        assert transport.send(receiver.url, **options).status == 200


@pytest.mark.long
def test_waiting_for_the_transport_itself_is_bound_as_well() -> None:
    with Receiver() as receiver, others("one", "two"):
        receiver.respond_with(Answer(delay=5))
        with pytest.raises(NoPlace):
            visit(lambda: transport.submit(receiver.url, headers={}, body=b"").result())


@pytest.mark.long
@pytest.mark.timed
def test_name_lookup_of_a_request_ends_with_its_free_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from common.http import url_policy

    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: time.sleep(2) or [])
    began = time.monotonic()
    assert visit(lambda: url_policy.resolve_host("slow.example"), is_marked=False) == []
    assert time.monotonic() - began < FREE + 0.4

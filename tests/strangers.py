"""Web requests that have a place, made in this process: to wait for servers of others, or for work of our own."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from django.http import HttpRequest, HttpResponse

from common import places, strangers
from common.places import Work
from common.strangers import may_wait_for_strangers
from common.web import visits
from common.web.visits import VisitsMiddleware


def visit(work: Callable[[], Any], *, is_marked: bool = True) -> Any:
    """What `work` returns within a web request of this thread."""
    found: list[Any] = []

    def view(request: HttpRequest) -> HttpResponse:
        found.append(work())
        return HttpResponse()

    def get_response(request: HttpRequest) -> HttpResponse:
        middleware.process_view(request, view, (), {})
        return view(request)

    if is_marked:
        may_wait_for_strangers(view)
    middleware = VisitsMiddleware(get_response)
    middleware(HttpRequest())
    return found[0]


@contextmanager
def others(*who: str, work: Callable[..., Any] = strangers.require) -> Iterator[None]:
    """Requests in progress on threads of their own, which have done this with each of `who` and not ended."""
    over, ready = threading.Event(), threading.Barrier(len(who) + 1)

    def stay(name: str) -> None:
        work(name)
        ready.wait(10)
        over.wait(10)

    with ThreadPoolExecutor(len(who)) as pool:
        running = [pool.submit(visit, lambda name=name: stay(name)) for name in who]
        ready.wait(10)
        try:
            yield
        finally:
            over.set()
            for each in running:
                each.result()


@contextmanager
def places_taken() -> Iterator[None]:
    """All places of this process, by requests for other apps."""
    with others(*map(str, range(strangers.bound().number))):
        yield


@contextmanager
def every_thread_taken() -> Iterator[None]:
    """And all places, by requests for other apps."""
    bound = strangers.bound()
    idle = map(str, range(bound.threads - bound.number))
    with places_taken(), others(*idle, work=lambda name: None):
        yield


def working(name: str, *, free: bool = True) -> None:
    """Take a place for work of our own, for a person of this name; with `free=False` as if all other threads were taken."""
    here = visits.current()
    assert here is not None
    here.request.user = SimpleNamespace(pk=name, is_authenticated=True)  # type: ignore[assignment]
    if free:
        places.require(Work.PICTURE)
        return
    with patch.object(places.own_work(), "threads", 0):
        places.require(Work.PICTURE)


@contextmanager
def own_places_taken() -> Iterator[None]:
    """All places of this process for work of our own, by others."""
    with others(*(f"other {number}" for number in range(places.own_work().number)), work=working):
        yield

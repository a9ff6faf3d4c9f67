"""Every route of both hosts, asked in one process with one cast. `sweep` in `conftest.py` is one for a test module."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.test.utils import CaptureQueriesContext
from django.urls import resolve

from common.web.methods import methods_of
from installations.signing_keys import session_keys
from stores.addresses import store_url
from tests.wire.pages import STORES, URLCONFS, Route, Subject, routes, subject_of, subjects_of
from tests.wire.visitors import Answer, Visitor
from tools.screenshots import cast as everybody

MILLION = 1_000_000
A_MILLION = f"limit={MILLION}&page_size={MILLION}&pageSize={MILLION}"


def largest_limit(queries: CaptureQueriesContext) -> int:
    """The most rows that one of these statements would read for a page."""
    return max(
        (int(each) for query in queries for each in re.findall(r"LIMIT (\d+)", query["sql"])), default=0
    )


@contextmanager
def rolled_back() -> Iterator[None]:
    """A transaction that counts as none, as those around Django's tests."""
    block: Any = transaction.atomic()
    block._from_testcase = True  # noqa: SLF001
    with block:
        yield
        transaction.set_rollback(True)


class Sweep:
    """Asks for pages, and collects what failed."""

    def __init__(self) -> None:
        self.cast = everybody.seed()
        session_keys()  # as the start does
        self.store = urlsplit(store_url(self.cast.shop.slug))
        self.subjects = subjects_of(self.cast)
        people = {each.person for each in self.subjects.values()} | {
            self.cast.sam,
            self.cast.noor,
            self.cast.rae,
        }
        self.visitors = {person: Visitor(person) for person in people}
        self.asked = 0
        self.found: list[str] = []

    def __iter__(self) -> Iterator[tuple[Route, Subject]]:
        for route in routes():
            subject = subject_of(route, self.subjects)
            assert set(route.parameters) <= set(subject.values), (
                f"{route}: name something for {route.parameters}"
            )
            found = resolve(route.path(subject.values), URLCONFS[route.host]).func
            assert found is route.view or not methods_of(route.view) or methods_of(found), (
                f"{route} isn't reached"
            )
            if found is route.view:  # not hidden by one of ours, as the sign-in page of Django's admin
                yield route, subject

    def ask(
        self, route: Route, subject: Subject, method: str, query: str = "", *args: Any, **headers: str
    ) -> Answer:
        query = "&".join(filter(None, (subject.query, query)))
        url = f"{self.url(route, subject.values)}?{query}"
        return self.send(route, subject, method, url, *args, **headers)

    def url(self, route: Route, values: dict[str, Any]) -> str:
        path = route.path(values)
        return f"{self.store.path}{path[1:]}" if route.host == STORES else path

    def send(
        self, route: Route, subject: Subject, method: str, url: str, *args: Any, **headers: str
    ) -> Answer:
        host = self.store.netloc if route.host == STORES else ""
        self.asked += 1
        with rolled_back():
            answer = self.visitors[subject.person].ask(method, url, *args, host=host, **headers)
        about = f"{method} {url[:150]} {args} {headers}"[:400]
        self.expect(answer.status < 500, f"{answer.status}: {about}")
        self.expect("x-request-id" in answer.headers, f"no request id: {about}")
        return answer

    def expect(self, is_right: bool, message: str) -> None:
        if not is_right:
            self.found.append(message)

"""Whether a shop's pages can be framed: looked at when their rows come and daily (contract, section 17, "People")."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ConnectedStore
from common.http import looks
from stores.connected import framing
from stores.connected.stores import open_store
from stores.models import SitePage
from stores.tasks import look_at_pages
from tests.receivers import Answer, Receiver
from tests.waiting import wait_until

from .rows import put

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]
OURS = "https://platform.example"
CSP, FRAME_OPTIONS = "Content-Security-Policy", "X-Frame-Options"


@pytest.fixture(autouse=True)
def _development_machine(settings: Any) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    settings.BASE_URL = OURS


@pytest.fixture
def pages() -> Iterator[Receiver]:
    """The shop's server."""
    with Receiver() as running:
        yield running


def push(shop: Client, url: str, name: str = "p-1", version: int = 1) -> SitePage:
    answer = put(shop, f"pages/{name}", version, url=url, slug=name)
    assert answer.status_code == 200, answer.content
    return SitePage.objects.get(external_id=name)


def judged(page: SitePage) -> tuple[bool, bool]:
    """Whether it was looked at, and whether it can be framed."""
    page.refresh_from_db()
    return page.framing_looked_at is not None, page.is_framable


@pytest.mark.parametrize(
    ("answer", "may"),
    [
        (Answer(), True),
        (Answer(headers={FRAME_OPTIONS: "DENY"}), False),
        (Answer(headers={FRAME_OPTIONS: "sameorigin"}), False),
        (Answer(headers={CSP: "default-src 'self'; frame-ancestors 'self'"}), False),
        (Answer(headers={CSP: f"frame-ancestors 'self' {OURS}", FRAME_OPTIONS: "DENY"}), True),
        (Answer(headers={CSP: f"frame-ancestors {OURS}.evil.example"}), False),
        (Answer(status=404), False),
        (Answer(status=302, headers={"Location": "/other"}), True),
        (Answer(status=302, headers={"Location": "http://localhost:9/"}), False),
        (Answer(body=b"x" * 2_000_000), True),
    ],
)
def test_headers_of_the_page_decide(
    shop: Client, store: ConnectedStore, pages: Receiver, answer: Answer, may: bool
) -> None:
    pages.answer_at("/about", answer)
    page = push(shop, f"{pages.url}about")
    assert judged(page) == (False, False)
    look_at_pages()
    assert judged(page) == (True, may)
    assert "Authorization" not in pages.requests[0].head.decode()


def test_page_is_looked_at_daily_and_after_another_address(
    shop: Client, store: ConnectedStore, pages: Receiver
) -> None:
    page = push(shop, f"{pages.url}about")
    before = page.updated_at
    look_at_pages()
    look_at_pages()
    assert (len(pages.requests), judged(page)) == (1, (True, True))
    assert page.updated_at == before  # apps that ask for what changed don't get it again
    pages.respond_with(Answer(headers={FRAME_OPTIONS: "DENY"}))
    framing.look_at_pages(now=timezone.now() + timedelta(hours=23))
    assert judged(page) == (True, True)
    framing.look_at_pages(now=timezone.now() + timedelta(hours=24, minutes=1))
    assert (len(pages.requests), judged(page)) == (2, (True, False))
    push(shop, f"{pages.url}about", version=2)
    assert judged(page) == (True, False)
    push(shop, f"{pages.url}who", version=3)
    assert judged(page) == (False, False)
    look_at_pages()
    assert [each.target for each in pages.requests] == ["/about", "/about", "/who"]


def test_address_of_our_networks_is_never_asked(
    shop: Client, store: ConnectedStore, pages: Receiver, settings: Any
) -> None:
    """Nor is a page of ours ever framed, whatever it says."""
    inner = push(shop, f"{pages.url}about")
    own = push(shop, f"{pages.url}own", "p-2")
    settings.ALLOW_LOCAL_DESTINATIONS = False
    look_at_pages()
    assert (pages.requests, judged(inner), judged(own)) == ([], (True, False), (True, False))
    settings.ALLOW_LOCAL_DESTINATIONS, settings.BASE_URL = True, pages.url.rstrip("/")
    framing.look_at_pages(now=timezone.now() + timedelta(days=2))
    assert (len(pages.requests), judged(own)) == (2, (True, False))


def test_silent_server_keeps_no_other_store_waiting(
    shop: Client, store: ConnectedStore, pages: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It gets one request for twenty pages."""
    monkeypatch.setattr(looks, "SECONDS", 1.0)
    values = {"name": "Second", "currency": "USD"}
    second = open_store(system=store.system, external_id="second", values=values)
    good = page_of(second, f"{pages.url}about")
    with Receiver(host="127.0.0.2") as silent:
        silent.respond_with(Answer(delay=600))
        stuck = [page_of(store, f"{silent.url}{number}") for number in range(framing.PAGES)]
        task = threading.Thread(target=look_at_pages)
        task.start()
        wait_until(lambda: judged(good) == (True, True), timeout=0.9)
        assert {judged(each) for each in stuck} == {(False, False)}
        task.join()
        assert len(silent.requests) == 1
    assert {judged(each) for each in stuck} == {(True, False)}


def page_of(store: ConnectedStore, url: str) -> SitePage:
    return SitePage.objects.create(business=store.business, slug=url.rpartition("/")[2], url=url)

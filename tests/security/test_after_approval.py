"""Attacks by the developer of a listed app on what looks at it again (docs/decisions/0104)."""

from base64 import b64encode
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from threading import Thread
from time import monotonic
from typing import Any

import pytest
from django.core import mail
from django.db import connections
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from common.http import looks
from common.ids import first_id_at
from conformance.models import Run, WeeklyCheck
from conformance.services import weekly
from extensions.enums import ExtensionType
from extensions.models import WatchedScript
from extensions.services.scripts import find_scripts, look_at_due
from extensions.tasks import look_at_scripts
from tests import factories
from tests.extensions.cast import define
from tests.merchants.pages import installed, listed_app
from tests.pages import HTML, text_of
from tests.receivers import Answer, Receiver
from tests.storefront.shopping import STORES_HOST

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.timed,
    pytest.mark.usefixtures("mails_leave_at_once"),
]


@pytest.fixture(autouse=True)
def _development_machine(settings: Any) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Takes each request and never answers."""
    monkeypatch.setattr(looks, "SECONDS", 0.5)
    with Receiver() as server:
        server.respond_with(Answer(delay=600))
        yield server


@pytest.fixture
def honest() -> Iterator[Receiver]:
    with Receiver(host="localhost") as server:
        server.respond_with(Answer(body=b"1", headers={"Content-Type": "text/javascript"}))
        yield server


def watched(developer: User, server: Receiver, *, apps: int = 1, each: int = 1) -> list[WatchedScript]:
    """Scripts of as many listed apps, due since a minute ago."""
    due_at = timezone.now() - timedelta(minutes=1)
    return [
        WatchedScript.objects.create(app=app, url=f"{server.url}{number}.js", due_at=due_at)
        for app in [factories.app(developer) for _ in range(apps)]
        for number in range(each)
    ]


@pytest.mark.attack("changed bytes", "pinned scripts held back")
def test_scripts_are_replaced_after_the_approval(dana: User, shop: Business, honest: Receiver) -> None:
    """The page would wait for the pinned one, which no browser runs; the other one runs at the next view."""
    app = listed_app(dana, [])
    for number, pinned in enumerate((pin(b"1"), "")):
        fields = {"kind": "GLOBAL_SCRIPT", "position": "head", "scriptUrl": f"{honest.url}{number}.js"}
        define(app, ExtensionType.EMBED, str(number), **fields, integrity=pinned)
    installed(app, shop)
    find_scripts()
    look_at_due()
    honest.respond_with(Answer(body=b"2"))
    look_at_due(now=timezone.now() + timedelta(hours=1))
    page = text_of(Client(SERVER_NAME=STORES_HOST, headers=HTML).get(f"/store/{shop.slug}/"), 200)
    assert (f"{honest.url}0.js" in page, f"{honest.url}1.js" in page) == (False, True)
    assert {each.subject.partition(": ")[2] for each in mail.outbox} == {
        "a script has changed",
        "a script isn’t on stores’ pages any more",
    }


def pin(body: bytes) -> str:
    return f"sha256-{b64encode(sha256(body).digest()).decode()}"


@pytest.mark.long
@pytest.mark.attack("work of one thread")
def test_silent_servers_occupy_every_worker(dana: User, silent: Receiver) -> None:
    watched(dana, silent)
    first = Thread(target=lambda: (look_at_scripts(), connections.close_all()))
    first.start()
    silent.wait_for(1)
    began = monotonic()
    look_at_scripts()
    took = monotonic() - began
    first.join()
    assert took < 0.3
    assert len(silent.requests) == 1


@pytest.mark.long
@pytest.mark.attack("silent hosts left alone", "one request at a host")
def test_silent_server_holds_up_looks_at_others(
    dana: User, sam: User, silent: Receiver, honest: Receiver
) -> None:
    """Many apps with many scripts there, all due before the honest one."""
    many = watched(dana, silent, apps=4, each=4)
    (other,) = watched(sam, honest)
    began = monotonic()
    look_at_scripts()
    assert monotonic() - began < 5
    other.refresh_from_db()
    assert other.sha256
    assert len(silent.requests) == 1
    soon = WatchedScript.objects.filter(pk__in=[each.pk for each in many])
    assert min(soon.values_list("due_at", flat=True)) > timezone.now() + timedelta(minutes=4)


@pytest.mark.long
@pytest.mark.attack("weekly checks put off for a day")
def test_developer_puts_the_weekly_check_off_by_own_checks(dana: User) -> None:
    """One each 50 minutes, by the portal's button."""
    app = factories.app(dana)
    factories.approve(app)
    now = weekly.slot(app.pk, timezone.now())
    WeeklyCheck.objects.create(app=app, due_at=now, version_number=1)
    claimed = []
    for _ in range(40):
        Run.objects.create(pk=first_id_at(now), app=app, sender="PLATFORM", started_at=now, deadline_at=now)
        claimed.append(weekly.claim(now=now))
        now += timedelta(minutes=50)
    assert any(claimed)


@pytest.mark.long
@pytest.mark.attack("mails about pins in a day")
def test_script_that_matches_its_pin_every_other_time_fills_a_mailbox(dana: User, honest: Receiver) -> None:
    """The last mail of a day tells how it is, or the first one of the next does."""
    body = b"1"
    watched(dana, honest)
    WatchedScript.objects.update(pins=[pin(body)])
    now = timezone.now()
    for number in range(26):
        honest.respond_with(Answer(body=b"" if number % 2 == 0 else body))
        look_at_due(now=now)
        now += timedelta(hours=1)
    honest.respond_with(Answer(body=b""))
    for _ in range(26):
        look_at_due(now=now)
        now += timedelta(hours=1)
    pages = [each.subject.partition(": ")[2] for each in mail.outbox]
    assert 4 <= len(pages) <= 3 * 4
    assert pages[-1] == "a script isn’t on stores’ pages any more"

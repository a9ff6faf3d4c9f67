"""Uninstalling, and the receipt that fills in until the app has confirmed the erasure."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone
from django.utils.html import escape

from accounts.models import Business, User
from installations.enums import HistoryKind
from installations.models import HistoryEntry, Installation
from installations.services import uninstall
from marketplace.models import App
from tests import factories
from tests.merchants.pages import installed, listed_app, page_of
from tests.pages import signed_in, text_of
from tests.receivers import Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import drain
from webhooks.models import Erasure, Webhook
from webhooks.services import erasure as erasures
from webhooks.services import retention

T0 = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
DUE = T0 + timedelta(hours=48)
SECOND = timedelta(seconds=1)
WAITS = [timedelta(seconds=seconds) for seconds in (30, 120, 480, 1920, 7200)]
SPEC = "Installation"


@pytest.fixture(autouse=True)
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(T0, tick=False) as traveller:
        yield traveller


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


@pytest.fixture
def stars(dana: User, receiver: Receiver) -> App:
    return listed_app(dana, ["read_products", "read_orders"], name="Loyalty Stars", webhook_url=receiver.url)


@pytest.fixture
def active(clock: time_machine.Traveller, stars: App, shop: Business) -> Installation:
    return installed(stars, shop, now=T0 - timedelta(days=3))


def receipt(browser: Client, installation: Installation) -> str:
    return text_of(browser.get(page_of(installation, "receipt/")))


def press(browser: Client, installation: Installation) -> Any:
    return browser.post(page_of(installation, "uninstall/"))


def call(installation: Installation) -> int:
    headers = {"authorization": f"Bearer {installation.raw_token}"}  # type: ignore[attr-defined]
    return int(Client(headers=headers).get("/app-api/products").status_code)


def test_page_says_what_goes_now_and_what_later(browser: Client, active: Installation) -> None:
    Business.objects.update(timezone="America/New_York")
    page = text_of(browser.get(page_of(active, "uninstall/")))
    assert page.index("<h2>Now</h2>") < page.index("See your products") < page.index("<h2>Later</h2>")
    assert 'On <time datetime="2026-11-22T12:00:00.000Z">22 Nov 2026, 07:00 EST</time>' in page
    assert ">Uninstall</button>" in page
    assert Installation.objects.get().is_active


def test_page_says_that_nobody_can_be_asked_so_far(browser: Client, active: Installation, stars: App) -> None:
    assert "The app has no Webhook URL yet" not in text_of(browser.get(page_of(active, "uninstall/")))
    stars.versions.update(webhook_url="")
    assert "The app has no Webhook URL yet" in text_of(browser.get(page_of(active, "uninstall/")))


@pytest.mark.spec(
    SPEC, "A merchant uninstalls: calls are 401, webhooks off, the erasure is due 48 hours later"
)
def test_uninstall_ends_token_and_webhooks_at_once(browser: Client, active: Installation, mira: User) -> None:
    helpers.webhook(active, "https://stars.example.com/", ["order.created"])
    assert call(active) == 200
    assert press(browser, active)["Location"] == page_of(active, "receipt/")
    assert call(active) == 401
    assert [webhook.is_active for webhook in Webhook.objects.all()] == [False, False]
    assert Erasure.objects.get().due_at == DUE
    entry = active.history.get(kind=HistoryKind.UNINSTALLED)
    assert (entry.at, entry.actor, entry.scopes) == (T0, mira, ["read_products", "read_orders"])


@pytest.mark.long
def test_uninstall_pressed_twice_is_done_once(
    browser: Client, active: Installation, clock: time_machine.Traveller
) -> None:
    press(browser, active)
    clock.move_to(T0 + SECOND, tick=False)
    assert press(browser, active)["Location"] == page_of(active, "receipt/")
    active.refresh_from_db()
    assert active.uninstalled_at == T0
    assert active.history.filter(kind=HistoryKind.UNINSTALLED).count() == 1


@pytest.mark.long
def test_reason_reaches_the_developer(
    browser: Client, active: Installation, dana: User, stars: App, sandbox: Business
) -> None:
    """In one line that may stay empty. A reason for a test install is of no store."""
    uninstall(installation=installed(stars, sandbox), by=dana, reason="Only trying")
    uninstall(installation=installed(factories.app(dana), active.business), by=dana, reason="Of another app")
    silent = factories.business(active.business.owner, name="Silent store")
    uninstall(installation=installed(stars, silent), by=silent.owner)
    before = timezone.now() - timedelta(days=8)
    uninstall(installation=installed(stars, silent), by=silent.owner, reason="Long ago", now=before)
    HistoryEntry.objects.create(
        installation=active, kind=HistoryKind.AGREED, at=T0, note="A scope", actor=dana
    )
    refused = browser.post(page_of(active, "uninstall/"), {"reason": "x" * 2_001})
    assert refused.status_code == 422
    assert call(active) == 200
    browser.post(page_of(active, "uninstall/"), {"reason": "Prints each order <twice>"})
    assert "Prints each order &lt;twice&gt;" in receipt(browser, active)
    shown = text_of(signed_in(dana).get(f"/portal/apps/{stars.slug}/analytics/?range=7d"))
    assert "Prints each order &lt;twice&gt;" in shown
    assert escape(active.business.name) in shown
    for other in ("Only trying", "Of another app", "Silent store", "Long ago", "A scope"):
        assert other not in shown


def test_uninstall_needs_a_press(browser: Client, active: Installation) -> None:
    browser.get(page_of(active, "uninstall/"))
    browser.head(page_of(active, "uninstall/"))
    assert call(active) == 200


@pytest.mark.long
def test_developer_uninstalls_on_the_sandbox(dana: User, app: App, sandbox: Business) -> None:
    on_sandbox = installed(app, sandbox)
    press(signed_in(dana), on_sandbox)
    assert call(on_sandbox) == 401


# The receipt


def test_receipt_of_an_installed_app_tells_what_was_granted(browser: Client, active: Installation) -> None:
    page = receipt(browser, active)
    assert "What it can do" in page
    assert page.count('<td data-label="By">Mira</td>') == 2
    assert "17 Nov 2026, 12:00:00 UTC" in page
    assert 'id="erasure">Your data<' not in page
    assert "As of <time" in page


@pytest.mark.long
def test_receipt_has_the_date_of_the_erasure(browser: Client, active: Installation) -> None:
    press(browser, active)
    page = receipt(browser, active)
    assert (
        'Uninstalled <time datetime="2026-11-20T12:00:00.000Z">20 Nov 2026, 12:00:00 UTC</time> by Mira'
        in page
    )
    assert '</svg>Planned</span> On <time datetime="2026-11-22T12:00:00.000Z">' in page
    assert page.count('<td data-label="By">Mira</td>') == 2


def test_receipt_stays_as_it_is_whatever_becomes_of_the_app(
    browser: Client, active: Installation, stars: App
) -> None:
    press(browser, active)
    stars.versions.update(scopes=["read_pages"])
    App.objects.update(deleted_at=T0, scopes=["read_pages"])
    page = receipt(browser, active)
    assert "See your products" in page
    assert "See the pages of your store" not in page


def test_receipt_of_an_end_that_was_not_the_merchants_names_nobody(
    browser: Client, active: Installation
) -> None:
    uninstall(installation=active)
    assert (
        'Uninstalled <time datetime="2026-11-20T12:00:00.000Z">20 Nov 2026, 12:00:00 UTC</time>. Since then'
        in receipt(browser, active)
    )


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec("Events/Data erasure", "The merchant's receipt tells when the app was asked and confirmed")
def test_receipt_fills_in_until_the_app_has_confirmed(
    browser: Client, active: Installation, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    press(browser, active)
    receiver.respond_with(503, 200)

    clock.move_to(DUE, tick=False)
    assert drain() == 1
    erasures.update_states()
    page = receipt(browser, active)
    assert "</svg>Asked</span>" in page
    assert "We’ll ask again on <time" in page
    assert (
        '<time datetime="2026-11-22T12:00:00.000Z">22 Nov 2026, 12:00:00 UTC</time>: It responded with 503 instead of confirming.'
        in page
    )

    clock.move_to(DUE + timedelta(minutes=1), tick=False)
    assert drain() == 1
    erasures.update_states()
    page = receipt(browser, active)
    assert '</svg>Confirmed</span> On <time datetime="2026-11-22T12:01:00.000Z">' in page
    assert ": It confirmed.</li>" in page
    assert receiver.wait_for(2)[1].headers["x-webhook-event"] == "business.data_erasure"

    clock.move_to(DUE + timedelta(days=40), tick=False)
    retention.remove_old()
    page = receipt(signed_in(active.business.owner), active)  # a session ends before
    assert "</svg>Confirmed</span>" in page
    assert "Confirmed erasing your data" in page
    assert "Answered with 200" in page


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_receipt_says_that_the_app_did_not_confirm(
    browser: Client, active: Installation, receiver: Receiver, clock: time_machine.Traveller
) -> None:
    press(browser, active)
    receiver.respond_with(500)
    moment = DUE
    for wait in [timedelta(0), *WAITS]:
        moment += wait * 1.05 + SECOND
        clock.move_to(moment, tick=False)
        assert drain() == 1
    erasures.update_states()
    page = receipt(browser, active)
    assert "</svg>Not confirmed</span>" in page
    assert page.count("responded with 500 instead of confirming") == 6
    assert "We alerted the platform’s operators on" in page or "We’ll alert the platform’s operators." in page


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_receipt_says_that_nobody_could_be_asked(
    browser: Client, active: Installation, stars: App, clock: time_machine.Traveller
) -> None:
    stars.versions.update(webhook_url="")
    press(browser, active)
    clock.move_to(DUE, tick=False)
    drain()
    erasures.update_states()
    assert "</svg>Not asked</span> We couldn’t ask the app" in receipt(browser, active)


def test_receipt_says_that_a_new_install_called_the_erasure_off(
    browser: Client, active: Installation, stars: App, shop: Business
) -> None:
    press(browser, active)
    again = installed(stars, shop)
    assert again.pk != active.pk
    assert "</svg>Cancelled</span>" in receipt(browser, active)
    assert HistoryEntry.objects.filter(installation=active, kind=HistoryKind.ERASURE_CANCELLED).exists()

"""While deliveries are resent, no page of the portal contradicts itself, whatever the endpoint answers."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from datetime import timedelta
from time import monotonic
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import Business, User
from marketplace.models import App
from tests import factories
from tests.deliveries import UNAVAILABLE, delivery
from tests.receivers import Answer, Receiver
from tests.waiting import wait_until
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus

from .conftest import NewPage, SignIn

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timed]

LOOKED_FOR = 30  # seconds
EVERY = 250  # ms
EACH = 10  # deliveries to the sandbox, and as many to a store

# One call reads all that a page says, so that it can't move between two reads.
READ = """() => {
    const words = (element) => element.textContent.trim().replace(/\\s+/g, " ");
    const texts = (selector) => [...document.querySelectorAll(selector)].map(words);
    return {
        banner: texts("[data-live-part=causes] > .notice"),
        causes: texts("[data-live-part=causes] section .notice-title"),
        rows: texts("tbody .of-status"),
        figures: texts(".figure-card .about"),
        plot: texts("[aria-labelledby=chart-deliveries] .chart-key li"),
        cells: texts("[aria-labelledby=chart-deliveries] tbody td"),
        bars: document.querySelectorAll("[aria-labelledby=chart-deliveries] .plot rect.bar").length,
        alerts: texts(".problems li"),
        faults: texts("[data-live-part=faults] .pill"),
    };
}"""
BANNER = {"delivered": "Delivered", "being sent": "Pending", "retrying": "Retrying", "failed again": "Failed"}
"""What the banner counts, by the rows' name for it, of deliveries that had failed before."""

Said = dict[str, Any]


def counts(text: str, words: str) -> Counter[str]:
    """`3 delivered, 1 being sent` by its words."""
    return Counter({word: int(number) for number, word in re.findall(rf"(\d+) ({words})", text)})


def check_list(said: Said) -> None:
    """The banner counts the rows, the title says whether any is being sent, and the causes have what fails."""
    rows = Counter(said["rows"])
    (banner,) = said["banner"]
    counted = counts(banner, "|".join(BANNER))
    assert {BANNER[word]: number for word, number in counted.items()} == rows
    assert ("being resent." in banner) == bool(rows["Pending"])
    assert sum(int(title.split(" ", 1)[0]) for title in said["causes"]) == rows["Retrying"] + rows["Failed"]


def check_plot(said: Said) -> dict[str, int]:
    """The table under the plot sums up to its key, and what is above zero is drawn. Returns the sums."""
    rows = list(zip(*[map(int, said["cells"])] * 3, strict=True))
    sums = {name: int(number) for name, number in (key.split() for key in said["plot"] if key != "Release")}
    assert list(sums) == ["Delivered", "Retrying", "Failed"]
    assert list(sums.values()) == [sum(column) for column in zip(*rows, strict=True)]
    assert said["bars"] == sum(number > 0 for row in rows for number in row)
    return sums


def check_stores(said: Said) -> None:
    """The figures are the sums of the plot."""
    sums = check_plot(said)
    figure = counts(" ".join(said["figures"]), "succeeded|retrying|failed")
    assert figure == Counter(succeeded=sums["Delivered"], retrying=sums["Retrying"], failed=sums["Failed"])
    assert bool(said["faults"]) or not (sums["Retrying"] or sums["Failed"])


def check_sandbox(said: Said) -> None:
    """The alert is there while the plot shows what is being retried, and so is the problem."""
    sums = check_plot(said)
    assert said["alerts"] == (["A webhook endpoint is failingSandbox"] if sums["Retrying"] else [])
    assert bool(said["faults"]) or not (sums["Retrying"] or sums["Failed"])


CHECKS = {"deliveries/": check_list, "?in=stores": check_stores, "?in=sandbox": check_sandbox}


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.ALLOW_LOCAL_DESTINATIONS = True
    with Receiver() as receiver:
        yield receiver


@pytest.fixture
def failed(dana: User, sandbox: Business, shop: Business, receiver: Receiver) -> App:
    """An app with deliveries that failed five minutes ago, in its sandbox and in a store."""
    stars = factories.app(dana, name="Loyalty Stars", slug="stars")
    factories.approve(stars)
    for business in (sandbox, shop):
        webhook = helpers.webhook(factories.installation(stars, business), receiver.url, ["order.created"])
        for number in range(EACH):
            at = timezone.now() - timedelta(minutes=5, seconds=number)
            delivery(webhook, DeliveryStatus.EXHAUSTED, UNAVAILABLE, created_at=at)
    return stars


ANSWERS = {
    "succeed": Answer(delay=2),
    "fail": Answer(status=500, delay=2),
    "hang": Answer(delay=60),
}


def said_by(page: Page, path: str) -> Said:
    page.goto(f"/portal/apps/stars/{path}")
    said: Said = page.evaluate(READ)
    return said


@pytest.mark.long
@pytest.mark.timeout(180)
@pytest.mark.parametrize("name", ANSWERS)
def test_pages_agree_with_themselves_for_thirty_seconds_after_a_resend(
    new_page: NewPage,
    sign_in: SignIn,
    dana: User,
    failed: App,
    receiver: Receiver,
    dispatcher: Callable[[], None],
    name: str,
) -> None:
    receiver.respond_with(ANSWERS[name])
    first = new_page()
    sign_in(first.context, dana)
    pages: dict[str, Page] = {}
    for path in ("?in=stores", "?in=sandbox"):
        pages[path] = first.context.new_page()
        pages[path].goto(f"/portal/apps/stars/{path}")
    first.goto("/portal/apps/stars/deliveries/")
    first.get_by_role("button", name=f"Resend {2 * EACH}").click()
    expect(first.get_by_text("deliveries are being resent.")).to_be_visible()
    pages["deliveries/"] = first
    until, moved = monotonic() + LOOKED_FOR, defaultdict(set)
    while monotonic() < until:
        for path, page in pages.items():
            said = page.evaluate(READ)
            CHECKS[path](said)
            moved[path].add(str(said))
        first.wait_for_timeout(EVERY)
    dispatcher()  # nothing moves any more
    opened_now = first.context.new_page()
    for path, page in pages.items():
        assert len(moved[path]) > 1
        wait_until(
            lambda path=path, page=page: page.evaluate(READ) == said_by(opened_now, path),
            15,
            said=lambda path=path, page=page: (
                f"{path}: {page.evaluate(READ)}, opened now: {said_by(opened_now, path)}"
            ),
        )

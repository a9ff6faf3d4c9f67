"""What counts for the service's objectives, and the operators' page of their budgets."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.contrib.auth.models import Permission
from django.db import OperationalError
from django.test import Client

from accounts.models import Business, User
from common.models import ObjectiveCount
from common.observability import objectives
from common.observability.objectives import (
    API,
    CHECKOUT,
    ERASURES,
    FIRST_ATTEMPTS,
    KEPT,
    OBJECTIVES,
    Objective,
)
from common.tasks import remove_old_objective_counts
from installations import services as installing
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.clients import client_of
from tests.config.scraping import value
from tests.factories import PASSWORD
from tests.pages import signed_in
from tests.receivers import Receiver
from tests.storefront.shopping import Shopper
from tests.webhooks.helpers import drain, publish
from tests.webhooks.helpers import webhook as webhook_at
from webhooks.enums import ErasureState, Pace
from webhooks.models import Delivery, Endpoint, Erasure
from webhooks.services import erasure

NOW = datetime(2026, 11, 20, 12, 2, tzinfo=UTC)
PAGE = "/admin/common/objectivecount/"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _quick_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """However busy this machine is."""
    monkeypatch.setattr("common.observability.metrics.perf_counter", lambda: 0.0)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def operators(clock: time_machine.Traveller) -> Client:
    return signed_in(User.objects.create_superuser("ada@example.com", PASSWORD))


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as running:
        yield running


def counted() -> dict[str, tuple[int, int]]:
    """Of each objective what was good and what was bad, once it is written."""
    objectives.flush()
    rows = ObjectiveCount.objects.values_list("objective", "good", "bad")
    return {name: (good, bad) for name, good, bad in rows}


# What counts


def test_calls_of_the_app_api_count_unless_they_are_turned_away(
    operator: Client,
    installation: Installation,
    clock: time_machine.Traveller,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad = 'extension_platform_objective_events_total{objective="api",outcome="bad"}'
    before = value(operator, bad)
    app = client_of(installation)
    app.raise_request_exception = False
    assert app.get("/app-api/installation").status_code == 200
    assert app.get("/app-api/products/nothing").status_code == 404
    assert Client().get("/app-api/installation").status_code == 401
    assert Client().get("/app-api/nothing").status_code == 404
    monkeypatch.setattr("appapi.views.business.settings_of", lambda *_: 1 / 0)
    assert app.get("/app-api/installation").status_code == 500
    assert counted() == {"api": (2, 1)}  # strangers can't make it look better
    assert value(operator, bad) - before == 1


def test_slow_answers_are_bad(
    installation: Installation, dana: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    for took in (0.9, 1.1):
        ticks = iter((10.0, 10.0 + took))
        monkeypatch.setattr("common.observability.metrics.perf_counter", lambda ticks=ticks: next(ticks))
        client_of(installation).get("/app-api/installation")
    assert counted() == {"api": (1, 1)}


def test_pages_of_the_portal_count_and_its_forms_do_not(
    app: App, dana: User, clock: time_machine.Traveller
) -> None:
    page = signed_in(dana)
    page.get(f"/portal/apps/{app.slug}/")
    page.post("/portal/apps/new/", {"name": ""})
    page.get("/merchant/")
    assert counted() == {"portal": (1, 0)}


@pytest.mark.django_db(transaction=True)
def test_checkout_is_its_page_and_an_order_by_the_api(
    shop: Business, installation: Installation, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    bread = factories.product(shop, slug="bread", stock=10)
    shopper = Shopper(shop)
    shopper.take(bread)
    assert shopper.place().status_code == 302  # after the page
    assert client_of(installation).post("/app-api/orders", {}, "application/json").status_code == 400
    shopper.take(bread)
    shopper.raise_request_exception = False
    page = shopper.checkout_page()
    monkeypatch.setattr("stores.services.checkout.count_order", lambda business: 1 / 0)
    assert shopper.place(page).status_code == 500
    assert counted() == {"checkout": (4, 1)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.timed
def test_first_attempts_are_good_in_time_whatever_is_answered(
    installation: Installation, sandbox: Business, clock: time_machine.Traveller, receiver: Receiver
) -> None:
    webhook_at(installation, receiver.url, ["order.created"])
    receiver.respond_with(500, 200)
    publish(sandbox)
    assert drain() == 1
    publish(sandbox)
    clock.shift(timedelta(seconds=6))
    assert drain() == 1
    assert counted() == {"first_attempts": (1, 1)}
    clock.shift(timedelta(seconds=40))  # a retry is none
    assert drain() == 1
    assert counted() == {"first_attempts": (1, 1)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.timed
@pytest.mark.parametrize(("pace", "counts"), [(Pace.PROVEN, True), (Pace.SLOW, False), (Pace.SILENT, False)])
def test_endpoints_that_hang_are_late_by_themselves(
    installation: Installation,
    sandbox: Business,
    clock: time_machine.Traveller,
    receiver: Receiver,
    pace: Pace,
    counts: bool,
) -> None:
    webhook = webhook_at(installation, receiver.url, ["order.created"])
    Endpoint.objects.create(id=webhook.endpoint, pace=pace)
    publish(sandbox)
    clock.shift(timedelta(seconds=6))
    assert drain() == 1
    assert counted() == ({"first_attempts": (0, 1)} if counts else {})


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(("status", "expected"), [(200, (1, 0)), (500, (0, 1)), (None, None)])
def test_erasures_are_good_once_the_app_confirms_them(
    app: App,
    installation: Installation,
    clock: time_machine.Traveller,
    receiver: Receiver,
    status: int | None,
    expected: tuple[int, int] | None,
) -> None:
    """One that has no address counts as neither."""
    app.webhook_url = receiver.url if status else ""
    app.save()
    receiver.respond_with(status or 200)
    installing.uninstall(installation=installation)
    clock.shift(timedelta(hours=49))
    for _ in range(6):
        drain()
        erasure.update_states()
        Delivery.objects.filter(due_at__isnull=False).update(due_at=datetime.now(UTC))
    assert counted().get("erasures") == expected
    assert Erasure.objects.get().state not in (ErasureState.DUE, ErasureState.SENT)


def test_counts_wait_while_the_database_is_away(
    clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    API.count(good=2)

    def away(batch: object) -> None:
        raise OperationalError("the server closed the connection")

    with monkeypatch.context() as broken:
        broken.setattr(objectives, "_write", away)
        assert objectives.flush() == 0
    API.count(good=1, bad=1)
    assert counted() == {"api": (3, 1)}
    API.count(bad=1)  # to the same five minutes, as another process does
    assert counted() == {"api": (3, 2)}


def test_old_counts_are_removed(clock: time_machine.Traveller) -> None:
    for age in (KEPT - timedelta(hours=1), KEPT + timedelta(hours=1)):
        ObjectiveCount.objects.create(objective="api", at=NOW - age, good=1)
    remove_old_objective_counts()
    assert ObjectiveCount.objects.get().at == NOW - KEPT + timedelta(hours=1)


# The page


def count(objective: Objective, ago: timedelta, good: int, bad: int = 0) -> None:
    at = objectives.begin_of_step(NOW - ago)
    ObjectiveCount.objects.create(objective=objective.name, at=at, good=good, bad=bad)


def lines(page: Any) -> dict[str, list[str]]:
    """The table of the page, by its first column."""
    assert page.status_code == 200
    body = page.content.decode().split("<tbody>")[1].split("</tbody>")[0]
    rows = [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row, re.DOTALL) for row in body.split("</tr>")]
    cells = [[" ".join(re.sub("<.*?>", " ", cell).split()) for cell in row] for row in rows]
    return {row[0]: row[1:] for row in cells if row}


def test_page_has_shares_budget_and_burn_of_each_objective(operators: Client) -> None:
    count(API, timedelta(minutes=10), 999, 1)
    count(API, timedelta(hours=5), 998, 2)
    count(API, timedelta(days=20), 97_999, 1)
    count(API, timedelta(days=31), 0, 5_000)  # no window reaches it
    table = lines(operators.get(PAGE))
    assert list(table) == [each.title for each in OBJECTIVES]
    # 4 bad of 100,000, of which 100 may be
    assert table["App API"] == ["Within budget", "99.9%", "99.99%", "99.85%", "99.90%", "96%", "1.0 ×"]
    assert table["Checkout"] == ["Nothing counted", "99.5%", "–", "–", "–", "–", "–"]


def test_page_says_which_budget_burns(operators: Client) -> None:
    count(CHECKOUT, timedelta(minutes=2), 900, 100)
    count(FIRST_ATTEMPTS, timedelta(hours=4), 980, 20)
    count(FIRST_ATTEMPTS, timedelta(days=20), 98_900, 100)
    count(ERASURES, timedelta(minutes=2), 2, 3)  # too few to say anything
    count(ERASURES, timedelta(days=4), 995)
    count(API, timedelta(days=10), 9_900, 100)
    states = {title: row[0] for title, row in lines(operators.get(PAGE)).items()}
    assert states == {
        "First attempts": "Burns slowly",
        "App API": "Used up",
        "Checkout": "Burns fast",
        "Developer portal": "Nothing counted",
        "Data erasures": "Within budget",
    }
    assert lines(operators.get(PAGE))["App API"][-2:] == ["0%, used 10.0 times", "–"]


def test_plots_show_what_each_day_used(operators: Client) -> None:
    count(API, timedelta(hours=1), 49_990, 10)
    count(API, timedelta(days=3), 49_960, 40)
    text = " ".join(operators.get(PAGE).content.decode().split())
    assert "<title>20 Nov: budget used 10%</title>" in text
    assert "<title>17 Nov: budget used 40%</title>" in text
    assert "<title>18 Nov: budget used 0%</title>" in text


def test_page_takes_two_statements_more_than_it_shows_rows(
    operators: Client, django_assert_num_queries: Any
) -> None:
    """However many counts there are."""
    from config.admin import levels

    for minutes in range(0, 300, 5):
        count(API, timedelta(minutes=minutes), 10, 1)
    with django_assert_num_queries(2):
        levels(NOW)


def test_page_is_for_operators(clock: time_machine.Traveller, dana: User) -> None:
    rita = factories.reviewer()
    assert signed_in(dana).get(PAGE).status_code == 302
    assert signed_in(rita).get(PAGE).status_code == 403
    assert "Service levels" not in signed_in(rita).get("/admin/").content.decode()
    rita.user_permissions.add(Permission.objects.get(codename="view_objectivecount"))
    rita = User.objects.get(pk=rita.pk)
    assert signed_in(rita).get(PAGE).status_code == 200
    assert f'href="{PAGE}"' in signed_in(rita).get("/admin/").content.decode()

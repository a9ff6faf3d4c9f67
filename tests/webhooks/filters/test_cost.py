"""What an event costs with and without filters: statements, and rows that PostgreSQL reads."""

from collections.abc import Callable, Collection
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Business
from installations.models import Installation
from tests import factories
from tests.state import rows_read
from tests.webhooks import helpers
from webhooks.enums import HeldReason
from webhooks.models import Delivery, Event, Webhook
from webhooks.queries import entitled_to, naming
from webhooks.services import publishing

RULE = "Contract 19 Filters"
URL = "https://app.example.com/hooks"
PASSES = '{"all":[{"field":"amount","op":"gt","value":1}]}'
STOPS = '{"all":[{"field":"amount","op":"lt","value":1}]}'

pytestmark = [pytest.mark.django_db, pytest.mark.postgres]


def statements(work: Callable[[], object]) -> list[str]:
    with CaptureQueriesContext(connection) as captured:
        work()
    # The event and its deliveries go together, and are one INSERT here.
    return [query["sql"].split()[0] for query in captured if "SAVEPOINT" not in query["sql"]]


@pytest.fixture
def plain(installation: Installation, shop: Business) -> Installation:
    """Five webhooks of Dana's app in her sandbox, and some elsewhere."""
    for _ in range(5):
        helpers.webhook(installation, URL, ["order.created"])
        helpers.webhook(installation, URL, ["product.created"])
    elsewhere = factories.installation(installation.app, shop)
    helpers.webhook(elsewhere, URL, ["order.created"], filter=PASSES)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")  # or the plan would depend on what other tests left
    return installation


@pytest.mark.spec(RULE, "Webhooks without a filter cost what they cost before: statements")
def test_event_for_webhooks_without_a_filter_takes_two_round_trips(plain: Installation) -> None:
    helpers.publish(plain.business)
    assert statements(lambda: helpers.publish(plain.business)) == ["SELECT", "INSERT"]
    assert Delivery.objects.count() == 10


@pytest.mark.spec(RULE, "Webhooks without a filter cost what they cost before: rows read")
def test_event_for_webhooks_without_a_filter_reads_the_rows_of_its_webhooks_once(plain: Installation) -> None:
    """As the statement did before there were filters: it is here as it was then."""

    def before_filters() -> None:
        of = Installation.objects.filter(business=plain.business_id)
        list(entitled_to("order.created", of).order_by("paused_at").values_list("pk", "paused_at")[:1])
        rows = Webhook.objects.kept().receiving().filter(installation__in=entitled_to("order.created", of))
        columns = ("id", "installation__app_id", "endpoint", "is_active", "installation_id")
        assert len(naming("order.created", rows).order_by().values_list(*columns)) == 5

    helpers.publish(plain.business)  # what is read once in a process
    tables = ("webhooks_webhook", "installations_installation", "marketplace_app", "accounts_business")
    then, now = rows_read(before_filters), rows_read(lambda: helpers.publish(plain.business))
    assert {table: now.get(table, 0) for table in tables} == {table: then.get(table, 0) for table in tables}
    assert then["webhooks_webhook"] >= 5


@pytest.mark.spec(RULE, "Filtered webhooks take one small statement more, and none where nothing passes")
def test_event_for_filtered_webhooks_takes_one_round_trip_more(plain: Installation) -> None:
    helpers.publish(plain.business)
    stopped = helpers.webhook(plain, URL, ["order.created"], filter=STOPS)
    assert statements(lambda: helpers.publish(plain.business)) == ["SELECT", "INSERT"]
    passed = [
        helpers.webhook(plain, URL, ["order.created"], filter=text) for text in (PASSES, PASSES, f" {PASSES}")
    ]
    off = helpers.webhook(plain, URL, ["order.created"], filter=PASSES, is_active=False)
    Delivery.objects.all().delete()
    assert statements(lambda: helpers.publish(plain.business)) == ["SELECT", "INSERT", "INSERT"]
    reached = set(Delivery.objects.values_list("webhook", flat=True))
    assert {each.pk for each in passed} <= reached
    assert len(reached) == 8
    assert not {stopped.pk, off.pk} & reached
    assert all(each.id == each.find_id() for each in Delivery.objects.all())


@pytest.mark.spec(RULE, "Filters that a process has met need no other statement")
def test_event_for_filters_that_were_met_takes_two_round_trips(plain: Installation) -> None:
    for text in (PASSES, STOPS):
        helpers.webhook(plain, URL, ["order.created"], filter=text)
    of_first = statements(lambda: helpers.publish(plain.business))
    of_second = statements(lambda: helpers.publish(plain.business))
    assert (of_first, of_second) == (["SELECT", "INSERT", "INSERT"], ["SELECT", "INSERT"])
    assert [each.deliveries.count() for each in Event.objects.all()] == [6, 6]
    assert all(each.id == each.find_id() for each in Delivery.objects.all())


@pytest.mark.spec(RULE, "A filter is the one of the moment of the event")
def test_changed_filter_counts_at_once(plain: Installation, monkeypatch: pytest.MonkeyPatch) -> None:
    judged: list[set[str]] = []
    judge = publishing.passed

    def noted(filters: Collection[str], *event: Any) -> set[str]:
        judged.append(set(filters))
        return judge(filters, *event)

    webhook = helpers.webhook(plain, URL, ["order.created"])
    monkeypatch.setattr(publishing, "passed", noted)
    more = f" {STOPS}"
    for text, arrives in [
        (PASSES, 1),
        (STOPS, 0),
        (None, 1),
        (STOPS, 0),
        (PASSES, 1),
        (more, 0),
        (PASSES, 1),
    ]:
        Webhook.objects.filter(pk=webhook.pk).update(filter=text)
        helpers.publish(plain.business)
        assert Delivery.objects.filter(webhook=webhook).count() == arrives, text
        Delivery.objects.all().delete()
    judged.clear()
    helpers.publish(plain.business)
    assert judged == [{PASSES}], "Filters that are gone are not judged with every event."


@pytest.mark.spec(RULE, "What a process keeps of filters is bounded")
def test_filters_beyond_the_bound_are_read_with_each_event(
    plain: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "MOST_MET", len(PASSES) + 1)
    for text in (PASSES, f" {PASSES}"):
        helpers.webhook(plain, URL, ["order.created"], filter=text)
    for _ in range(3):
        assert statements(lambda: helpers.publish(plain.business)) == ["SELECT", "INSERT", "INSERT"]
    assert [each.deliveries.count() for each in Event.objects.all()] == [7, 7, 7]


@pytest.mark.parametrize("text", ["\0", "\x1f", '"', "\\", "%s", "{}", "é€😀", "'"])
def test_any_text_in_a_filter_is_compared_as_it_is(plain: Installation, text: str) -> None:
    document = {"all": [{"field": "orderNumber", "op": "ne", "value": text}]}
    webhook = helpers.webhook(plain, URL, ["order.created"], filter=orjson.dumps(document).decode())
    for number in (1, 2):
        helpers.publish(plain.business)
        assert Delivery.objects.filter(webhook=webhook).count() == number


@pytest.mark.spec(RULE, "What passes is held where everything is held")
def test_passed_events_are_held_for_paused_apps_and_disabled_webhooks(plain: Installation) -> None:
    Webhook.objects.all().delete()
    helpers.webhook(plain, URL, ["order.created"], filter=PASSES, is_active=False, disabled_at=timezone.now())
    assert held(plain.business) == ("HELD", HeldReason.DISABLED, None)
    Webhook.objects.update(is_active=True, disabled_at=None)
    Installation.objects.update(paused_at=timezone.now())
    assert held(plain.business) == ("HELD", HeldReason.PAUSED, None)
    Installation.objects.update(paused_at=None)
    assert held(plain.business)[0] == "PENDING"


def held(business: Business) -> tuple[Any, ...]:
    made = helpers.published(business)
    return made.status, made.held_reason, made.due_at


@pytest.mark.spec(RULE, "The count of a test event's deliveries has those that passed")
def test_number_of_deliveries_counts_what_passed(plain: Installation) -> None:
    helpers.webhook(plain, URL, ["order.created"], filter=PASSES)
    helpers.webhook(plain, URL, ["order.created"], filter=STOPS)
    data = {
        "orderId": "a", "orderNumber": "1", "amount": 2, "deliveryFee": 0, "deliveryMethod": "PICKUP",
        "paymentMethod": "CARD", "isGuest": True, "createdAt": "2026-11-20T15:04:05.123Z",
    }  # fmt: skip
    _, number = publishing.publish_to(installation=plain, event_type="order.created", data=data)
    assert number == 6

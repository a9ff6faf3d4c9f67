"""The feed: every event once, in an order that never changes behind a cursor."""

import base64
import random
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.clients import client_of
from tests.webhooks.helpers import publish, wait_for_feed
from webhooks import feed
from webhooks.feed import Cursor, current_horizon
from webhooks.models import Event
from webhooks.services.sandbox.samples import send_sample

# An event is seen once its transaction is over, which a test's own never is.
pytestmark = pytest.mark.django_db(transaction=True)


def read(api: Client, after: str = "", **filters: Any) -> dict[str, Any]:
    wait_for_feed()
    return read_now(api, after, **filters)


def read_now(api: Client, after: str = "", **filters: Any) -> dict[str, Any]:
    query = filters | ({"after": after} if after else {})
    answer = api.get("/app-api/events", query)
    assert answer.status_code == 200, answer.content
    return answer.json()


def names(page: dict[str, Any]) -> list[str]:
    return [each["event"] for each in page["data"]]


@pytest.mark.long
@pytest.mark.spec("Contract 5 Webhooks", "GET /app-api/events: the feed, oldest first, from cursor to cursor")
def test_feed_goes_on_behind_its_cursor(api: Client, sandbox: Business) -> None:
    start = read(api)
    assert (start["data"], start["hasMore"]) == ([], False)
    for name in ("order.created", "review.created", "order.created"):
        publish(sandbox, name)
    first, second, third = Event.objects.order_by("id")
    page = read(api, start["nextCursor"], limit=2)
    assert [each["id"] for each in page["data"]] == [str(first.id), str(second.id)]
    assert page["hasMore"]
    assert page["nextCursor"] == page["data"][-1]["cursor"]
    assert page["data"][0] == {
        "id": str(first.id),
        "event": "order.created",
        "timestamp": first.occurred_at.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "data": page["data"][0]["data"],
        "cursor": page["data"][0]["cursor"],
    }
    assert page["data"][0]["data"]["orderNumber"]
    rest = read(api, page["nextCursor"])
    assert ([each["id"] for each in rest["data"]], rest["hasMore"]) == ([str(third.id)], False)
    assert read(api, rest["nextCursor"])["data"] == []
    publish(sandbox, "review.created")
    assert names(read(api, rest["nextCursor"])) == ["review.created"]
    assert names(read(api, type="order.created,review.created", limit=900)) == [
        "order.created", "review.created", "order.created", "review.created",
    ]  # fmt: skip
    assert names(read(api, type="order.created")) == ["order.created", "order.created"]


@pytest.mark.spec(
    "Contract 5 Webhooks", "The feed shows what the scopes allow, of its own store, since the install"
)
def test_feed_shows_what_the_installation_may_see(
    api: Client,
    api_with: Callable[..., Client],
    app: App,
    dana: User,
    sandbox: Business,
    elsewhere: Installation,
) -> None:
    reviews_only = api_with("read_reviews")
    publish(sandbox, "order.created")
    publish(sandbox, "review.created")
    publish(elsewhere.business, "review.created")
    event, deliveries = send_sample(app=app, developer=dana, event_type="review.deleted")
    assert deliveries == 0
    assert names(read(api)) == ["order.created", "review.created", "review.deleted"]
    assert names(read(reviews_only)) == ["review.created"]
    assert names(read(client_of(elsewhere))) == ["review.created"]
    late = client_of(factories.installation(factories.app(dana), sandbox))
    assert read(late)["data"] == []
    assert Event.objects.get(pk=event.pk).installation_id is not None


@pytest.mark.spec("Contract 9 Order of errors", "Unknown query parameters are ignored")
def test_feed_has_no_pages(api: Client, sandbox: Business) -> None:
    publish(sandbox, "order.created")
    publish(sandbox, "review.created")
    body = read(api, page=0, limit=1)
    assert (names(body), body["hasMore"]) == (["order.created"], True)


@pytest.mark.parametrize(
    "query",
    ["after=nonsense", "after=", "after=MC4x", "type=order.mislaid", "type=", "limit=0", "limit=x", "after=AAAA", "after=" + "A" * 70],
)  # fmt: skip
def test_made_up_input_is_refused(api: Client, query: str) -> None:
    answer = api.get(f"/app-api/events?{query}")
    assert answer.status_code == 400
    assert answer.json()["details"][0]["field"] == query.partition("=")[0]


@pytest.mark.spec(
    "Contract 5 Webhooks", "A cursor older than 30 days is 410, with the oldest one in the message"
)
def test_old_cursor_is_gone_and_names_the_oldest(api: Client, sandbox: Business) -> None:
    publish(sandbox, "order.created")
    old = read(api)["nextCursor"]
    with time_machine.travel(timezone.now() + timedelta(days=30, minutes=1)):
        publish(sandbox, "review.created")
        answer = api.get("/app-api/events", {"after": old})
        assert (answer.status_code, answer.json()["error"]) == (410, "Gone")
        oldest = answer.json()["message"].rpartition(" ")[2]
        assert names(read(api, oldest)) == ["review.created"]


def test_cursor_of_before_a_restore_is_gone(api: Client, sandbox: Business, settings: Any) -> None:
    old = read(api)["nextCursor"]
    settings.FEED_EPOCH = 1
    answer = api.get("/app-api/events", {"after": old})
    assert answer.status_code == 410
    read(api, answer.json()["message"].rpartition(" ")[2])


def test_cursor_of_an_epoch_to_come_is_refused(api: Client, settings: Any) -> None:
    settings.FEED_EPOCH = 1
    ahead = read(api)["nextCursor"]
    settings.FEED_EPOCH = 0
    answer = api.get("/app-api/events", {"after": ahead})
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "after")


def test_cursor_says_nothing(api: Client, sandbox: Business) -> None:
    """Of its event, and of transactions: their numbers tell how much the platform writes."""
    event = publish(sandbox, "order.created")
    assert event
    given = str(Cursor.before(current_horizon(), timezone.now()))
    for text, position in (
        (read(api)["data"][0]["cursor"], Event.objects.get().position),
        (given, current_horizon()),
        (str(Cursor.before(123_456_789, event.occurred_at)), 123_456_789),
    ):
        raw = base64.urlsafe_b64decode(text + "==")
        assert event.id.bytes not in raw
        assert position.to_bytes(8) not in raw
        assert (
            len(str(position)) < 5 or str(position).encode() not in raw
        )  # a digit or two may be there by chance
    one, next_one = (Cursor.before(number, event.occurred_at) for number in (1000, 1001))
    assert sum(a == b for a, b in zip(str(one), str(next_one), strict=True)) < 20


@pytest.mark.parametrize("place", [0, 20, 40, -1])
def test_cursor_that_was_changed_is_refused(api: Client, place: int) -> None:
    raw = bytearray(base64.urlsafe_b64decode(read(api)["nextCursor"] + "=="))
    raw[place] ^= 1
    answer = api.get("/app-api/events", {"after": base64.urlsafe_b64encode(raw).rstrip(b"=").decode()})
    assert (answer.status_code, answer.json()["details"][0]["field"]) == (400, "after")


@pytest.mark.parametrize("position", [1, 2**62, 2**80])
def test_cursor_of_version_0_1_is_too_old(api: Client, position: int) -> None:
    """Alike whatever it says, so that trying reveals nothing."""
    numbers = b"0.%d.%d." % (position, timezone.now().timestamp() * 1000)
    answer = api.get(
        "/app-api/events", {"after": base64.urlsafe_b64encode(numbers + bytes(16)).decode().rstrip("=")}
    )
    assert answer.status_code == 410
    oldest = answer.json()["message"].rpartition(" ")[2]
    assert read(api, oldest)["data"] == []


def test_cursor_outlives_a_change_of_the_secret_key(api: Client, sandbox: Business, settings: Any) -> None:
    start = read(api)["nextCursor"]
    publish(sandbox, "order.created")
    settings.SECRET_KEY_FALLBACKS, settings.SECRET_KEY = (
        [settings.SECRET_KEY],
        "another key of this test, 0123456789",
    )
    page = read(api, start)
    assert names(page) == ["order.created"]
    settings.SECRET_KEY_FALLBACKS = []
    assert read(api, page["nextCursor"])["data"] == []
    assert api.get("/app-api/events", {"after": start}).status_code == 400


@pytest.mark.postgres
def test_event_committed_while_a_page_is_read_comes_once(
    api: Client, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the statement that reads the horizon and the one that reads the rows."""
    start = read(api)["nextCursor"]
    written, horizon_read, committed = threading.Event(), threading.Event(), threading.Event()
    positions: list[int] = []

    def write() -> None:
        with transaction.atomic():
            publish(sandbox, "review.created")
            positions.append(Event.objects.get().position)
            written.set()
            horizon_read.wait(10)
        committed.set()
        connection.close()

    def horizon_before_the_commit() -> int:
        """That of a server on which nothing older runs."""
        horizon_read.set()
        assert committed.wait(10)
        return positions[0]

    writer = threading.Thread(target=write)
    writer.start()
    assert written.wait(10)
    with monkeypatch.context() as between:
        between.setattr(feed, "current_horizon", horizon_before_the_commit)
        page = read_now(api, start)
    writer.join()
    assert names(page) == []
    assert names(read(api, page["nextCursor"])) == ["review.created"]


@pytest.mark.postgres
def test_numbers_that_a_crash_gives_again_hide_no_event(api: Client, sandbox: Business) -> None:
    """A reader that read an empty page right before the crash had seen a later number than the first event after it gets."""
    publish(sandbox, "order.created")
    Event.objects.update(
        position=current_horizon() - 10
    )  # there were other transactions between it and the empty page
    start = read(api)["nextCursor"]
    number = current_horizon() - 1
    publish(sandbox, "review.created")
    assert Event.objects.filter(type="review.created").update(position=number) == 1
    assert names(read(api, start)) == ["review.created"]


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.spec("Contract 5 Webhooks", "Nothing ever appears before a cursor that was handed out")
def test_no_event_appears_behind_the_reader(
    api: Client, sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Transactions that stay open for odd times commit in another order than they wrote."""
    monkeypatch.setattr("appapi.middleware.REQUESTS_A_MINUTE", 100_000)
    written: list[str] = []
    dice = random.Random(7)
    holds = [[dice.choice((0, 0, 0.005, 0.08)) for _ in range(15)] for _ in range(6)]

    def write(holding: list[float]) -> None:
        for seconds in holding:
            with transaction.atomic():
                event = publish(sandbox, "review.created")
                assert event
                time.sleep(seconds)
            written.append(str(event.id))
        connection.close()

    seen: list[str] = []
    cursor = read(api)["nextCursor"]
    writers = [threading.Thread(target=write, args=(holding,)) for holding in holds]
    for writer in writers:
        writer.start()
    ends = time.monotonic() + 60
    while len(seen) < 90 and time.monotonic() < ends:
        page = read_now(api, cursor, limit=7)
        seen += [each["id"] for each in page["data"]]
        cursor = page["nextCursor"]
    for writer in writers:
        writer.join()
    assert len(seen) == len(set(seen)) == 90
    assert sorted(seen) == sorted(written)

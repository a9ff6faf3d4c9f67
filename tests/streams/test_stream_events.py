"""Copies of all stores' events: nothing is missing, whatever dies meanwhile, and duplicates have the same id."""

import shlex
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Business, User
from common.db import partitions
from common.errors import Conflict
from common.ids import id_at
from installations.models import Installation
from streams.models import Stream
from streams.services.batches import progress, write_next
from streams.targets import InFolder
from tests import factories
from tests.object_storage import BUCKET, CREDENTIALS, ObjectServer
from tests.streams.reading import all_ids, files, ids, read, stream, wait_until_readable
from tests.webhooks.helpers import publish
from webhooks.models import Attempt, Delivery, Event
from webhooks.services.retention import remove_old
from webhooks.services.sandbox.samples import send_sample

# An event is seen once its transaction is over, which a test's own never is.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.long
def test_stream_has_the_events_of_all_stores_once(
    installation: Installation, sandbox: Business, sam: User, tmp_path: Path
) -> None:
    elsewhere = factories.installation(factories.app(sam), Business.objects.sandbox_of(sam))
    first, second = publish(sandbox), publish(elsewhere.business, "review.created")
    assert first
    assert second
    send_sample(app=installation.app, developer=installation.app.developer, event_type="review.deleted")
    stream("--batch", "2", to=tmp_path)
    events = read(tmp_path)
    assert ids(events) == all_ids()
    assert len(files(tmp_path)) == 2
    assert events[0] == {
        "id": str(first.id),
        "event": "order.created",
        "timestamp": events[0]["timestamp"],
        "businessId": str(sandbox.pk),
        "isSandbox": True,
        "installationId": None,
        "position": Event.objects.get(pk=first.pk).position,
        "data": events[0]["data"],
    }
    assert events[0]["data"]["orderNumber"]
    assert events[1]["businessId"] == str(elsewhere.business_id)
    assert events[2]["installationId"] == str(installation.pk)
    stream(to=tmp_path)  # nothing is written again
    publish(sandbox, "order.cancelled")
    stream(to=tmp_path)
    assert ids(read(tmp_path)) == all_ids()
    assert Stream.objects.get().events_written == 4


def test_streams_don_t_know_one_another(
    installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    publish(sandbox)
    stream(to=tmp_path / "one", name="one")
    publish(sandbox)
    stream(to=tmp_path / "two", name="two")
    assert (len(read(tmp_path / "one")), len(read(tmp_path / "two"))) == (1, 2)
    call_command("stream_events", "one", "--delete")
    stream(to=tmp_path / "again", name="one")
    assert ids(read(tmp_path / "again")) == all_ids()


@pytest.mark.postgres  # a position of SQLite is that of one event
def test_transaction_with_more_events_than_a_batch_is_one_batch(
    installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    with transaction.atomic():
        for _ in range(5):
            publish(sandbox)
    publish(sandbox)
    stream("--batch", "2", to=tmp_path)
    assert [len(file.read_bytes().splitlines()) for file in files(tmp_path)] == ([5, 1])
    assert ids(read(tmp_path)) == all_ids()


@pytest.mark.postgres
def test_transaction_that_commits_late_leaves_no_gap(
    installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    written, may_commit = threading.Event(), threading.Event()

    def write_slowly() -> None:
        with transaction.atomic():
            publish(sandbox)
            written.set()
            may_commit.wait(30)
        connection.close()

    slow = threading.Thread(target=write_slowly)
    slow.start()
    try:
        assert written.wait(30)
        publish(sandbox)  # commits first, with a later position
        call_command("stream_events", "warehouse", "--to", str(tmp_path))
        assert read(tmp_path) == []
    finally:
        may_commit.set()
        slow.join()
    stream(to=tmp_path)
    assert len(all_ids()) == 2
    assert ids(read(tmp_path)) == all_ids()


# Dying and being written again


@pytest.fixture
def fails_once() -> Callable[[Any], Any]:
    """Wraps a target: its first batch is written, and the process dies before it can say so."""

    def wrap(write: Any) -> Any:
        calls: list[str] = []

        def written(name: str, lines: Iterator[bytes]) -> None:
            write(name, lines)
            calls.append(name)
            if len(calls) == 1:
                raise KeyboardInterrupt

        return written

    return wrap


def test_batch_that_was_written_and_not_confirmed_is_written_again_the_same(
    installation: Installation, sandbox: Business, tmp_path: Path, fails_once: Callable[[Any], Any]
) -> None:
    for _ in range(3):
        publish(sandbox)
    wait_until_readable()
    with pytest.raises(KeyboardInterrupt):
        write_next("warehouse", fails_once(InFolder(tmp_path).write), limit=10)
    [before] = files(tmp_path)
    content = before.read_bytes()
    publish(sandbox)  # belongs to the next batch
    stream(to=tmp_path)
    assert before.read_bytes() == content
    assert len(files(tmp_path)) == 2
    assert ids(read(tmp_path)) == all_ids()


def test_second_process_of_a_stream_is_refused(
    installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    publish(sandbox)
    wait_until_readable()

    def meanwhile(name: str, lines: Iterator[bytes]) -> None:
        write_next("warehouse", InFolder(tmp_path).write, limit=10)
        InFolder(tmp_path).write(name, lines)

    with pytest.raises(Conflict, match="Another process writes stream warehouse"):
        write_next("warehouse", meanwhile, limit=10)
    assert ids(read(tmp_path)) == all_ids()
    assert Stream.objects.get().events_written == 1


@pytest.fixture(scope="module")
def server() -> Iterator[ObjectServer]:
    with ObjectServer() as running:
        yield running


@pytest.mark.long
@pytest.mark.timed
def test_bucket_has_an_object_for_each_batch_and_none_twice(
    installation: Installation,
    sandbox: Business,
    server: ObjectServer,
    monkeypatch: pytest.MonkeyPatch,
    fails_once: Callable[[Any], Any],
) -> None:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    from streams.targets import Bucket

    for _ in range(3):
        publish(sandbox)
    wait_until_readable()
    with pytest.raises(KeyboardInterrupt):
        write_next("warehouse", fails_once(Bucket(server.url).write), limit=10)
    publish(sandbox)
    stream(to=server.url)
    stored = sorted(server.stored())
    assert [name.startswith("shops/0/") and name.endswith(".ndjson") for name in stored] == [True, True]
    bodies = [server.client().get_object(Bucket=BUCKET, Key=name) for name in stored]
    assert bodies[0]["ContentType"] == "application/x-ndjson"
    lines = b"".join(each["Body"].read() for each in bodies).splitlines()
    assert ids([orjson.loads(line) for line in lines]) == all_ids()


@pytest.mark.long
def test_command_acknowledges_by_its_exit_status(
    installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    publish(sandbox)
    taken = tmp_path / "taken.ndjson"

    def pipe(script: str, *options: str) -> None:
        stream("--command", f"sh -c {shlex.quote(script)}", *options)

    for refusing in (f"cat >> {taken}; exit 3", "exit 3"):
        with pytest.raises(CommandError, match="ended with 3"):
            pipe(refusing)
    assert Stream.objects.get().events_written == 0
    pipe(f"cat >> {taken}")
    publish(sandbox)
    pipe(f"cat >> {taken}")
    events = [orjson.loads(line) for line in taken.read_bytes().splitlines()]
    assert len(events) == 3  # the first one twice, with the same id and position
    assert ids(events[1:]) == all_ids()
    assert events[0] == events[1]


@pytest.mark.long
def test_command_that_reads_only_a_part_does_not_acknowledge(
    installation: Installation, sandbox: Business
) -> None:
    with transaction.atomic():
        for _ in range(300):  # more than a pipe holds
            publish(sandbox)
    with pytest.raises(CommandError, match="ended before it had read the batch"):
        stream("--command", "head -c 10")
    assert Stream.objects.get().events_written == 0


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--to", "s3://Bucket"], "--to must look like s3://bucket"),
        (["--to", "https://bucket.example"], "--to must look like s3://bucket"),
        (["--command", "no-such-program -x"], "no-such-program"),
        (["--command", "cat", "--batch", "0"], "at least 1"),
        ([], "one of the arguments"),
    ],
)
def test_nonsense_is_refused(options: list[str], problem: str) -> None:
    with pytest.raises(CommandError, match=problem):
        call_command("stream_events", "warehouse", *options)
    assert not Stream.objects.exists()


def test_database_from_a_dump_is_noticed(tmp_path: Path) -> None:
    """It numbers transactions from the beginning, and the stream would wait for years."""
    Stream.objects.create(name="warehouse", position=2**60, complete_at=timezone.now())
    with pytest.raises(CommandError, match="restored from a dump"):
        call_command("stream_events", "warehouse", "--to", str(tmp_path))


# Being away for too long


@pytest.mark.long
def test_stream_that_was_away_for_too_long_says_so_and_goes_on(
    installation: Installation, sandbox: Business, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    now = timezone.now()
    data = {"business": sandbox, "type": "order.created", "data": "{}"}
    for days in (40, 35):  # the first one was written before the stream stopped
        at = now - timedelta(days=days)
        partitions.make_ahead(Event, Delivery, Attempt, now=at)
        Event.objects.create(id=id_at(at), occurred_at=at, position=days == 35, **data)
    Stream.objects.create(name="warehouse", position=1, complete_at=now - timedelta(days=40))
    remove_old(now=now + timedelta(days=7))  # the week of the second one is over for 30 days
    assert not Event.objects.exists()
    publish(sandbox)
    stream(to=tmp_path)
    assert ids(read(tmp_path)) == all_ids()
    assert "Stream warehouse has a gap" in caplog.text
    stream(to=tmp_path)
    assert Stream.objects.get().gaps == 1


@pytest.mark.postgres
def test_stream_that_comes_back_in_time_has_no_gap(
    installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    """A week is kept whole until its last day is 30 days old."""
    now = timezone.now()
    at = Event.partitions.start(now - timedelta(days=30)) + timedelta(hours=1)
    partitions.make_ahead(Event, Delivery, Attempt, now=at)
    Event.objects.create(
        id=id_at(at), occurred_at=at, business=sandbox, type="order.created", data="{}", position=1
    )
    Stream.objects.create(name="warehouse", position=1, complete_at=at)
    remove_old(now=now)
    stream(to=tmp_path)
    assert (len(read(tmp_path)), Stream.objects.get().gaps) == (1, 0)


def test_lag_is_the_age_of_the_oldest_event_that_waits(
    installation: Installation, sandbox: Business, tmp_path: Path
) -> None:
    stream(to=tmp_path)
    [idle] = progress(timezone.now())
    assert (idle.name, idle.lag, idle.gaps) == ("warehouse", 0, 0)
    publish(sandbox)
    [waiting] = progress(timezone.now() + timedelta(minutes=5))
    assert 300 <= waiting.lag < 330
    stream(to=tmp_path)
    [done] = progress(timezone.now() + timedelta(minutes=5))
    assert done.lag == 0


def test_events_that_no_app_learns_of_are_recorded_where_it_is_set(shop: Business, settings: Any) -> None:
    factories.product(shop)
    assert publish(shop) is None
    settings.RECORD_ALL_EVENTS = True
    event = publish(shop)
    assert event
    assert Event.objects.get().deliveries.count() == 0

"""Tables split by time: what is made, what goes where, and what is dropped."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, connections, migrations, models
from django.db.migrations.state import ProjectState

from common.db import partitions
from common.db.partitions import PartitionByTime, Partitions
from common.ids import id_at, new_id

pytestmark = [pytest.mark.django_db(transaction=True)]
NOW = datetime(2026, 11, 25, 15, 30, tzinfo=UTC)  # a Wednesday
DAY = timedelta(days=1)

CREATE = migrations.CreateModel(
    "Reading",
    fields=[
        ("id", models.UUIDField(primary_key=True, default=new_id, editable=False)),
        ("place", models.CharField(max_length=20, db_index=True)),
        ("value", models.PositiveIntegerField(default=0)),
    ],
    options={"indexes": [models.Index("place", models.F("id").desc(), name="reading_newest")]},
)


class Change(migrations.Migration):
    def __init__(self, *operations: Any) -> None:
        super().__init__("change", "common")
        self.operations = list(operations)


def migrate(state: ProjectState, *operations: Any) -> ProjectState:
    with connection.schema_editor() as editor:
        return Change(*operations).apply(state, editor)


def model_in(state: ProjectState, split: Partitions) -> Any:
    model: Any = state.apps.get_model("common", "Reading")
    model.partitions = split
    return model


@pytest.fixture
def days() -> Iterator[Any]:
    """The model of a table with a partition for each day."""
    state = migrate(ProjectState(), CREATE, PartitionByTime("Reading"))
    yield model_in(state, Partitions(days=1, storage={"fillfactor": "70"}))
    migrate(state, migrations.DeleteModel("Reading"))


def written(model: Any, moment: datetime) -> UUID:
    row: UUID = model.objects.create(id=id_at(moment), place="Ulm").pk
    return row


def home(model: Any, row: UUID) -> str:
    """The partition in which a row lies."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tableoid::regclass::text FROM common_reading WHERE id = %s", [row])
        return str(cursor.fetchone()[0])


@pytest.mark.postgres
def test_rows_go_to_the_partition_of_their_day(days: Any) -> None:
    made = partitions.make_ahead(days, now=NOW)
    assert made == [f"common_reading_202611{day}" for day in (25, 26, 27, 28)]
    assert partitions.make_ahead(days, now=NOW) == []
    midnight = NOW.replace(hour=0, minute=0)
    assert home(days, written(days, midnight)) == made[0]
    assert home(days, written(days, midnight + DAY - timedelta(milliseconds=1))) == made[0]
    assert home(days, written(days, midnight + DAY)) == made[1]
    with connection.cursor() as cursor:
        cursor.execute("SELECT reloptions FROM pg_class WHERE relname = %s", [made[0]])
        assert cursor.fetchone()[0] == ["fillfactor=70"]
        cursor.execute("SELECT count(*) FROM pg_indexes WHERE tablename = %s", [made[0]])
        assert cursor.fetchone()[0] == 4  # of the key, two of the place, and the newest


@pytest.mark.postgres
def test_row_for_a_time_without_partition_is_kept_and_moves_when_there_is_one(days: Any) -> None:
    """The scheduler was down for a week, or a clock was wrong."""
    partitions.make_ahead(days, now=NOW)
    late, early = written(days, NOW + 7 * DAY), written(days, NOW - 7 * DAY)
    assert home(days, late) == home(days, early) == "common_reading_default"
    assert partitions.rows_without_partition(days) == 1
    partitions.make_ahead(days, now=NOW + 7 * DAY)
    assert home(days, late) == "common_reading_20261202"
    assert set(days.objects.values_list("pk", flat=True)) == {late, early}


@pytest.mark.postgres
def test_rows_without_partition_are_noticed_though_the_last_one_was_dropped(days: Any) -> None:
    """The scheduler was down for so long that retention had dropped all."""
    assert partitions.rows_without_partition(days) == 0
    partitions.make_ahead(days, now=NOW)
    late = written(days, NOW + 20 * DAY)
    partitions.remove_before(days, NOW + 19 * DAY)
    assert partitions.existing(days) == []
    assert partitions.rows_without_partition(days) == 1
    assert days.objects.get().pk == late


def test_removal_takes_whole_past_days_and_leaves_the_rest(days: Any) -> None:
    for past in (3, 2, 1, 0):
        partitions.make_ahead(days, now=NOW - past * DAY)
    rows = [written(days, NOW - past * DAY) for past in (5, 3, 2, 1, 0)]  # the first has no partition
    partitions.remove_before(days, NOW - 2 * DAY, batch=1)
    assert list(days.objects.order_by("id").values_list("pk", flat=True)) == rows[2:]
    if connection.vendor == "postgresql":
        assert partitions.existing(days)[0].table == "common_reading_20261123"


@pytest.mark.long
@pytest.mark.postgres
def test_table_in_use_is_left_for_the_next_run(days: Any) -> None:
    other = connections["default"].copy()
    with other.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM common_reading")  # a transaction that takes long
        assert partitions.make_ahead(days, now=NOW) == []
        cursor.execute("COMMIT")
    other.close()
    assert len(partitions.make_ahead(days, now=NOW)) == 4


@pytest.mark.postgres
def test_weeks_follow_days_without_gap_or_overlap(days: Any) -> None:
    partitions.make_ahead(days, now=NOW)
    days.partitions = Partitions(days=7)
    partitions.make_ahead(days, now=NOW + 7 * DAY)
    partitions.make_ahead(days, now=NOW + 3 * DAY)
    spans = [(each.start.day, each.end.day) for each in partitions.existing(days)]
    assert spans == [(25, 26), (26, 27), (27, 28), (28, 29), (29, 30), (30, 7)]


@pytest.mark.postgres
def test_existing_table_is_split_with_its_rows_and_back() -> None:
    state = migrate(ProjectState(), CREATE)
    model = model_in(state, Partitions())
    rows = [written(model, NOW - DAY), written(model, NOW)]
    before = indexes()
    with connection.schema_editor() as editor:
        PartitionByTime("Reading").database_forwards("common", editor, state, state)
    assert partitions.is_split(model)
    partitions.make_ahead(model, now=NOW)
    assert home(model, rows[1]) == "common_reading_20261125"
    assert indexes() == before
    with pytest.raises(IntegrityError):
        model.objects.update(value=-1)
    with connection.schema_editor() as editor:
        PartitionByTime("Reading").database_backwards("common", editor, state, state)
    assert not partitions.is_split(model)
    assert list(model.objects.order_by("id").values_list("pk", flat=True)) == rows
    assert indexes() == before
    migrate(state, migrations.DeleteModel("Reading"))


def indexes() -> set[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT indexname FROM pg_indexes WHERE tablename = 'common_reading'")
        return {name for (name,) in cursor.fetchall()}

"""The database of every release can be migrated to today's models, with its rows. PostgreSQL only.

`tools/record_release.py` records a release.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.backends.utils import CursorWrapper
from pytest_django.plugin import DjangoDbBlocker

from accounts.models import Business, User
from accounts.services.confirmation import is_confirmed
from common.ids import new_id
from config.demo.people import MERCHANT, PASSWORD
from extensions.models import Placement
from installations.models import Installation
from stores.enums import ProductStatus
from stores.models import Order, Product, StoreTotals
from tests.upgrades.databases import scratch_database
from tools.record_release import ENCRYPTION_KEY, RELEASES
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Webhook

pytestmark = [pytest.mark.postgres, pytest.mark.django_db]

# Without partitions, of which each database has those of its time. They have what their table has.
PARTITION = "SELECT oid::regclass::text FROM pg_class WHERE relispartition AND relname NOT LIKE '%_default'"
COLUMNS = f"""
SELECT table_name, column_name, udt_name, character_maximum_length, is_nullable, column_default, is_identity
FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT IN ({PARTITION})
"""  # noqa: S608
INDEXES = f"SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename NOT IN ({PARTITION})"  # noqa: S608
CONSTRAINTS = f"""
SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND conrelid::regclass::text NOT IN ({PARTITION})
"""  # noqa: S608
STORAGE = f"""
SELECT relname, reloptions FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname NOT IN ({PARTITION})
"""  # noqa: S608
SHADOW_COLUMNS = (
    "id", "version_id", "installation_id", "hook_point", "called_at", "duration_ms", "outcome", "problem",
)  # fmt: skip
SCHEMA = {"columns": COLUMNS, "indexes": INDEXES, "constraints": CONSTRAINTS, "storage": STORAGE}


@dataclass(frozen=True)
class Upgraded:
    """What to compare a migrated database with."""

    new_schema: dict[str, set[str]]
    rows_before: dict[str, int]


def schema() -> dict[str, set[str]]:
    with connection.cursor() as cursor:
        return {part: {_plain(row) for row in _all(cursor, query)} for part, query in SCHEMA.items()}


def _plain(row: tuple[Any, ...]) -> str:
    """Without the casts and parentheses of expressions, which PostgreSQL rearranges when a dump is loaded."""
    return re.sub(r"::(?:character varying|text)(?:\[\])?|[()]", "", " ".join(map(str, row)))


def rows() -> dict[str, int]:
    """By table, without those that `migrate` itself writes."""
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        counts = {name: _all(cursor, f'SELECT count(*) FROM "{name}"')[0][0] for name in tables}  # noqa: S608
    return {name: count for name, count in counts.items() if not name.startswith(("auth_", "django_"))}


def _all(cursor: CursorWrapper, query: str) -> list[tuple[Any, ...]]:
    cursor.execute(query)
    return cursor.fetchall()


@pytest.fixture(scope="module", params=sorted(RELEASES.glob("*.sql")), ids=lambda file: file.stem)
def upgraded(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Upgraded]:
    """While the tests of this module run, the default connection leads to the release's migrated database."""
    recorded = request.param.read_text()
    with django_db_blocker.unblock():
        new_schema = schema()
        with scratch_database():
            with connection.cursor() as cursor:
                cursor.execute(recorded)
            connection.close()  # pg_dump's settings end with the session
            rows_before = rows()
            call_command("migrate", verbosity=0)
            yield Upgraded(new_schema, rows_before)


def differences(new_schema: dict[str, set[str]]) -> dict[str, set[str]]:
    now = schema()
    return {part: now[part] ^ new for part, new in new_schema.items() if now[part] != new}


@pytest.mark.long
def test_upgraded_database_has_the_schema_of_a_new_one(upgraded: Upgraded) -> None:
    """Else a migration that a release contains was edited, or a new one is not complete."""
    assert not differences(upgraded.new_schema)


@pytest.mark.long
def test_upgrade_keeps_every_row(upgraded: Upgraded) -> None:
    now = rows()
    lost = {table: count for table, count in upgraded.rows_before.items() if now.get(table, 0) < count}
    assert not lost


@pytest.mark.long
@pytest.mark.usefixtures("upgraded")
def test_people_sign_in_with_their_passwords() -> None:
    user = authenticate(email=MERCHANT, password=PASSWORD)
    assert user is not None
    assert Business.objects.main_of(user)
    assert isinstance(user, User)
    assert is_confirmed(user)  # addresses of before


@pytest.mark.usefixtures("upgraded")
def test_totals_of_stores_are_those_of_their_rows() -> None:
    for totals in StoreTotals.objects.all():
        store = totals.business_id
        assert totals.products == Product.objects.filter(business=store, status=ProductStatus.ACTIVE).count()
        assert totals.orders == Order.objects.filter(business=store).count()


@pytest.mark.usefixtures("upgraded")
def test_no_row_can_come_to_calls_in_the_shadow() -> None:
    """Processes of 0.2.0 that still run can't leave a customer's words where no erasure looks for them."""
    columns = ", ".join(
        f"'{new_id()}'"
        if name in ("id", "version_id", "installation_id")
        else "now()"
        if name == "called_at"
        else "'1'"
        for name in SHADOW_COLUMNS
    )
    insert = f"INSERT INTO extensions_shadowcall ({', '.join(SHADOW_COLUMNS)}) VALUES ({columns})"  # noqa: S608
    with (
        pytest.raises(IntegrityError, match="shadow_calls_ended"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(insert)


@pytest.mark.long
@pytest.mark.usefixtures("upgraded")
def test_installed_app_keeps_token_secret_and_what_it_adds(settings: Any) -> None:
    settings.FIELD_ENCRYPTION_KEYS = [ENCRYPTION_KEY]
    installation = Installation.objects.active().get(is_test=False)
    assert installation.token_digest
    assert installation.webhook_secret.startswith("whsec_")
    assert Placement.objects.filter(installation=installation).exists()


@pytest.mark.long
@pytest.mark.usefixtures("upgraded")
def test_delivery_that_was_not_confirmed_is_still_due() -> None:
    waiting = Delivery.objects.filter(status=DeliveryStatus.RETRYING)
    assert [delivery.attempts.count() for delivery in waiting] == [1]


@pytest.mark.usefixtures("upgraded")
def test_webhooks_have_the_endpoints_that_new_ones_get(settings: Any) -> None:
    """So that an app's URL is one endpoint for all its stores."""
    settings.FIELD_ENCRYPTION_KEYS = [ENCRYPTION_KEY]
    webhooks = list(Webhook.objects.select_related("installation__app"))
    assert webhooks
    assert [each.endpoint for each in webhooks] == [each.find_endpoint() for each in webhooks]

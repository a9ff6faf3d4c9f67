"""A dispatcher's statements use the indexes, even if PostgreSQL's statistics are outdated."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Business
from installations.models import Installation
from tests.receivers import Receiver
from tests.webhooks import helpers
from tests.webhooks.helpers import add_copies, drain, publish, published
from webhooks.engine import claim_selection, claims, planning
from webhooks.models import Webhook

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def seqscan() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SHOW enable_seqscan")
        return cursor.fetchone()[0]  # type: ignore[no-any-return]


def plan_of_a_claim(now: Any) -> str:
    with connection.cursor() as cursor:
        cursor.execute(
            f"EXPLAIN WITH {claim_selection.CHOSEN} SELECT id FROM chosen",  # noqa: S608
            claim_selection.parameters(100, now),
        )
        return "\n".join(row[0] for row in cursor.fetchall())


def test_dispatcher_plans_by_index_and_leaves_the_session_as_it_was(
    installation: Installation, sandbox: Business, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    helpers.webhook(installation, receiver.url, ["order.created"])
    publish(sandbox)
    claim, seen = claims.claim, []

    def watched(*args: Any, **options: Any) -> list[claims.Claim]:
        seen.append(seqscan())
        return claim(*args, **options)

    monkeypatch.setattr(claims, "claim", watched)
    assert drain() == 1
    assert set(seen) == {"off"}
    assert seqscan() == "on"


def test_session_is_as_it_was_after_a_dispatcher_has_crashed(
    sandbox: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash(*args: Any, **options: Any) -> None:
        assert seqscan() == "off"
        raise RuntimeError("a defect")

    monkeypatch.setattr(claims.Peek, "finds", crash)
    with pytest.raises(RuntimeError):
        drain()
    assert seqscan() == "on"


def test_what_is_due_is_read_in_order_and_not_sorted(
    installation: Installation, sandbox: Business, receiver: Receiver
) -> None:
    helpers.webhook(installation, receiver.url, ["order.created"])
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE webhooks_delivery")  # while nothing waits
    publish(sandbox)
    assert "on webhooks_delivery" in plan_of_a_claim(timezone.now())
    planning.by_index()
    try:
        plan = plan_of_a_claim(timezone.now())
    finally:
        planning.as_usual()
    assert "Seq Scan on webhooks_delivery" not in plan
    assert "Bitmap Heap Scan on webhooks_delivery" not in plan
    assert "due_at_id_endpoint_idx on webhooks_delivery_" in plan  # `delivery_due` of a partition


def parts(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for each in plan.get("Plans", []):
        yield from parts(each)


def indexes(plan: dict[str, Any]) -> set[str]:
    """The names of those that this part of a plan reads. They are of partitions, so each has its parent's instead."""
    read = [each["Index Name"] for each in parts(plan) if "Index Name" in each]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT inhparent::regclass::text FROM pg_inherits WHERE inhrelid::regclass::text = ANY (%s)",
            [read],
        )
        return {name for [name] in cursor.fetchall()}


def explained(statement: str, parameters: Any) -> dict[str, Any]:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) {statement}", parameters)
        return cursor.fetchone()[0][0]["Plan"]  # type: ignore[no-any-return]


def plan_of_a_peek() -> dict[str, Any]:
    now = timezone.now()
    claims.Peek().finds(now)  # prepares it
    return explained("EXECUTE webhooks_peek (%s)", [now])


def part_of_a_claim(cte: str) -> dict[str, Any]:
    plan = explained(
        f"WITH {claim_selection.CHOSEN} SELECT id FROM chosen",  # noqa: S608
        claim_selection.parameters(100, timezone.now()),
    )
    return next(each for each in parts(plan) if each.get("Subplan Name") == f"CTE {cte}")


def plan_of_what_a_claim_finds_by_time() -> dict[str, Any]:
    return part_of_a_claim("earliest")


@pytest.mark.parametrize("plan", [plan_of_a_peek, plan_of_what_a_claim_finds_by_time])
def test_what_is_due_is_never_looked_for_by_endpoint(plan: Callable[[], dict[str, Any]]) -> None:
    """However large the index by time is, and whatever the statistics say: not even without it."""
    with planning.by_index_here(), connection.cursor() as cursor:
        assert indexes(plan()) == {"delivery_due"}
        cursor.execute("DROP INDEX delivery_due")
        assert "delivery_of_endpoint" not in indexes(plan())
        transaction.set_rollback(True)


@pytest.mark.long
def test_what_an_endpoint_has_waiting_is_looked_for_by_endpoint(sandbox: Business, webhook: Webhook) -> None:
    """Even if all that waited at the last analysis was for one endpoint, so that by time it would be found as soon."""
    add_copies(published(sandbox), 60_000)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE webhooks_delivery")
    with planning.by_index_here():
        assert indexes(part_of_a_claim("waiting")) == {"delivery_of_endpoint"}
        assert indexes(part_of_a_claim("chosen")) == {"delivery_of_endpoint"}  # which has `hopped` in it

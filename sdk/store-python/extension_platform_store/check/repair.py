"""RP: rows that were lost, on the way or at one side."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import Any

from .calls import Call, Reply
from .door import Forward
from .rules import rule
from .subject import Item, Subject, has, word
from .verdicts import RuleBroken

KILLS = 3  # of each kind
AHEAD = 1_000_000_000


@rule("RP001", "Loses no change when what pushes is killed")
def outlives_kills(shop: Subject) -> str:
    item = shop.product()
    for _ in range(KILLS):
        for reaches_platform in (False, True):
            item = killed_while_pushing(shop, item, reaches_platform=reaches_platform)
    mark = len(shop.door.calls)
    item = shop.change(item, name=f"Check {word()}")
    shop.driver.restart_sender(compare=False)  # before a push, or just after its beginning
    shop.row("products", item.id, mark, f"named {item.name!r}", has("name", item.name))
    return f"{KILLS * 2 + 1} kills between a change and the answer to its push lost nothing."


def killed_while_pushing(shop: Subject, item: Item, *, reaches_platform: bool) -> Item:
    """Change a product, and kill the sender in the middle of the push: before the platform has the row, or afterwards."""
    mark, name = len(shop.door.calls), f"Check {word()}"
    pushing, done = threading.Event(), threading.Event()

    def hold(call: Call, forward: Forward) -> Reply | None:
        if pushing.is_set() or not any(row.id == item.id for row in call.rows):
            return forward()
        if reaches_platform:
            forward()
        pushing.set()
        done.wait(shop.patience)
        return None

    with shop.door.between(hold):
        item = shop.change(item, name=name)
        try:
            if not pushing.wait(shop.patience):
                raise RuleBroken(
                    f"Expected a push of {item.id}, whose name was changed. Your shop pushed nothing."
                )
            shop.driver.restart_sender(compare=False)
        finally:
            done.set()
    if not reaches_platform:
        shop.row("products", item.id, mark, f"named {name!r}, after its sender was killed", has("name", name))
    return item


@rule("RP002", "Finds rows that were lost, so that both sides agree")
def finds_lost_rows(shop: Subject) -> str:
    changed, new = shop.product(), f"Check {word()}"
    mark = len(shop.door.calls)
    with shop.door.between(lose_all):
        changed, made = shop.change(changed, name=new), shop.product(arrives=False)
        for item in (changed, made):
            if not shop.door.wait(lambda row_id=item.id: any(  # type: ignore[misc]
                call.reply is not None for call in shop.pushes(row_id, mark)), shop.patience):  # fmt: skip
                raise RuleBroken(f"Expected a push of {item.id}. Your shop pushed nothing.")
    shop.product()  # by then the shop has noted the answers
    mark = len(shop.door.calls)
    compare(shop)
    for item in (changed, made):
        shop.row("products", item.id, mark, "after both sides were compared", has("name", item.name))
    for call in compare(shop):
        answer = call.reply.record if call.reply else {}
        left = [name for name in ("missing", "outdated", "ahead", "unknown") if answer.get(name)]
        if left:
            raise RuleBroken(
                f"Expected that both sides agree. The platform still names {', '.join(left)} rows."
            )
    return "The platform names nothing that differs."


@rule("RP003", "Has rows deleted at the platform that the shop hasn't", needs=("RP002",))
def deletes_unknown_rows(shop: Subject) -> str:
    path = f"/store-api/stores/{shop.store}/products/check-{word()}"
    row = {"version": 1, "name": f"Check {word()}", "price": 1}
    shop.door.ask_platform("PUT", path, row)

    def in_a_minute(call: Call, forward: Forward) -> Reply | None:
        """Rows that are newer than the list count as known. The client's is a minute older than itself, for other clocks."""
        if call.rest == "/snapshot" and "takenAt" in call.body:
            call.instead = call.body | {"takenAt": datetime.now(UTC).isoformat()}
        return forward()

    with shop.door.between(in_a_minute):
        compare(shop)
    if not shop.door.ask_platform("GET", path).record.get("deleted"):
        raise RuleBroken(
            "Expected `delete` in the snapshot, so that a product which the shop hasn't is deleted. It is still there."
        )
    return "A product that the shop didn't have was deleted."


@rule("RP004", "Replaces rows that are newer at the platform, as after a backup", needs=("RP002",))
def replaces_newer_rows(shop: Subject) -> str:
    item = shop.product()
    [*_, row] = shop.rows("products", item.id)
    path = f"/store-api/stores/{shop.store}/products/{item.id}"
    newer = (row.data or {}) | {"name": f"Check {word()}", "version": row.version + AHEAD}
    shop.door.ask_platform("PUT", path, newer)
    mark = len(shop.door.calls)
    compare(shop)
    row = shop.row("products", item.id, mark, "with `force`, after the platform called it `ahead`")
    return f"The platform {row.result['result']} version {row.version}."


def lose_all(call: Call, forward: Forward) -> Reply | None:
    """Answer as the platform does, which gets nothing."""
    if not call.is_push:
        return forward()
    results: list[dict[str, Any]] = [
        {"resource": row.resource, "id": None, "externalId": row.id, "result": "updated", "events": []} for row in call.rows
    ]  # fmt: skip
    return Reply.of(200, {"results": results} if call.rest == "/rows" else results[0])


def compare(shop: Subject) -> list[Call]:
    """Have the shop compare both sides, and return its calls about products, which cover all ids."""
    mark = len(shop.door.calls)
    shop.driver.restart_sender(compare=True)

    def snapshots() -> list[Call]:
        calls = [call for call in shop.door.since(mark) if call.rest == "/snapshot" and call.reply]
        return [call for call in calls if call.body.get("resource") == "products"]

    def is_whole() -> bool:
        return any(call.body.get("after") is None for call in snapshots()) and any(
            call.body.get("until") is None for call in snapshots()
        )

    if not shop.door.wait(is_whole, shop.patience):
        raise RuleBroken(
            f"Expected a snapshot of all products within {shop.patience:g} s. Your shop sent {len(snapshots())} parts of one."
        )
    return snapshots()

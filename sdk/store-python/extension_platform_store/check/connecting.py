"""CN: the key of the connection."""

from __future__ import annotations

import secrets

from .calls import Call, Reply
from .door import Forward
from .rules import rule
from .subject import Subject
from .verdicts import RuleBroken


@rule("CN001", "Sends the key of its connection with each call, for its own store alone")
def sends_its_key(shop: Subject) -> str:
    shop.product()
    calls = [call for call in shop.door.calls if call.path.startswith("/store-api")]
    for call in calls:
        if call.key != shop.key:
            raise RuleBroken(
                f"Expected the key that the shop was given. {call.method} {call.path} had "
                + ("another one." if call.key else "none.")
            )
        if shop.key in call.path + call.query or shop.key.encode() in call.raw:
            raise RuleBroken(
                f"Expected the key in the header alone. {call.method} {call.path} has it in the URL or body."
            )
        if call.store not in (None, shop.store):
            raise RuleBroken(
                f"Expected calls for the store {shop.store}. Your shop called one for {call.store}."
            )
    return f"{len(calls)} calls had the key."


@rule("CN002", "Loses nothing while its key is refused")
def outlives_a_refused_key(shop: Subject) -> str:
    mark = len(shop.door.calls)

    def refuse(call: Call, forward: Forward) -> Reply | None:
        return Reply.of(401, {"statusCode": 401, "message": "The key is wrong, or has ended."})

    with shop.door.between(refuse):
        item = shop.product(arrives=False)
        if not shop.door.wait(lambda: any(call.reply for call in shop.pushes(item.id, mark)), shop.patience):
            raise RuleBroken("Expected a push of a product that was made. Your shop pushed nothing.")
    row = shop.row("products", item.id, mark, "that was made while the key was refused")
    return f"The product was pushed again with version {row.version}."


@rule("CN003", "Uses a new key as soon as it is set")
def uses_a_new_key(shop: Subject) -> str:
    before, after = shop.key, f"fbsk_{secrets.token_hex(20)}"
    shop.door.keys.add(after)
    shop.key = after
    try:
        shop.about = shop.driver.connect(shop.door.url, after, shop.secret)
        shop.door.keys.discard(before)
        mark = len(shop.door.calls)
        item = shop.product(arrives=False)
        row = shop.row("products", item.id, mark, "pushed with the new key")
    except RuleBroken:
        if any(call.key == before for call in shop.door.since(mark)):
            shop.key = before
            raise RuleBroken(
                "Expected calls with the key that was set last. Your shop calls with the one before, which has ended."
            ) from None
        raise
    return f"Version {row.version} of a product came with the new key."

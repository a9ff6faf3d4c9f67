"""RW: what became of products."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

from .calls import Call, Record, Reply, SentRow
from .door import Forward, busy
from .rules import rule
from .subject import Item, Subject, describe, has, word
from .verdicts import RuleBroken

WAIT = 2  # seconds that the platform asks for
AT_ONCE, EACH = 5, 4  # products, and changes of each


@rule("RW001", "Pushes a product that was made, as it is in the shop")
def pushes_a_product(shop: Subject) -> str:
    mark = len(shop.door.calls)
    item = shop.product(arrives=False)
    row = shop.row("products", item.id, mark, "that was made")
    data = row.data or {}
    same(data, "name", item.name)
    if amount(data) != item.price:
        raise RuleBroken(f"Expected the price {item.price}. Your shop pushed {data.get('price')!r}.")
    if data.get("stock") not in (None, item.stock):
        raise RuleBroken(f"Expected the stock {item.stock}. Your shop pushed {data['stock']!r}.")
    return f"The platform {row.result['result']} version {row.version}."


@rule("RW002", "Pushes the whole row, whatever has changed", needs=("RW001",))
def pushes_whole_rows(shop: Subject) -> str:
    mark = len(shop.door.calls)
    item = shop.product()
    [first, *_] = shop.rows("products", item.id, mark)
    mark, price = len(shop.door.calls), item.price * 2
    shop.change(item, price=price)

    last = shop.pushed("products", item.id, mark, lambda data: amount(data) == price)
    last = last or last_push(shop, item, mark)
    gone = sorted(
        {name for name, value in (first.data or {}).items() if value is not None} - set(last.data or {})
    )
    if gone or amount(last.data or {}) != price:
        raise RuleBroken(
            f"Expected the row with the new price {price} and all fields. Your shop {describe([last])}"
            + (f", without {', '.join(gone)}." if gone else ".")
        )
    return f"The row has {', '.join(sorted(last.data or {}))}."


@rule("RW003", "Gives each change a version that is higher than those before", needs=("RW001",))
def versions_grow(shop: Subject) -> str:
    mark = len(shop.door.calls)
    item = shop.product()
    for _ in range(3):
        since, name = len(shop.door.calls), f"Check {word()}"
        item = shop.change(item, name=name)
        row = shop.pushed("products", item.id, since, has("name", name))
        row = row or last_push(shop, item, since)
        if row.result.get("result") == "stale":
            before = max(each.version for each in shop.rows("products", item.id, mark) if each is not row)
            raise RuleBroken(
                f"Expected a version above {before}. Your shop pushed a change with version {row.version},"
                " and the platform took it for an old one."
            )
        if not row.is_taken or (row.data or {}).get("name") != name:
            raise RuleBroken(f"Expected the change of the name to {name!r}. Your shop {describe([row])}.")
    return (
        "The versions were "
        + ", ".join(str(row.version) for row in shop.rows("products", item.id, mark))
        + "."
    )


@rule("RW004", "Pushes a row again when no answer came", needs=("RW001", "RW003"))
def repeats_a_row(shop: Subject) -> str:
    lost: list[Call] = []

    def lose(call: Call, forward: Forward) -> Reply | None:
        if lost or not any(row.id == item.id for row in call.rows):
            return forward()
        forward()
        lost.append(call)
        return None

    item = shop.product()
    mark, name = len(shop.door.calls), f"Check {word()}"
    with shop.door.between(lose):
        shop.change(item, name=name)
        if not shop.door.wait(lambda: bool(lost) and len(shop.pushes(item.id, mark)) > 1, shop.patience):
            raise RuleBroken(
                "Expected another push after one that got no answer. Your shop pushed it "
                + ("once." if lost else "not at all.")
            )
    shop.door.wait(lambda: shop.pushes(item.id, mark)[1].reply is not None, shop.patience)
    row = last_push(shop, item, mark)
    if not row.is_taken or (row.data or {}).get("name") != name:
        raise RuleBroken(f"Expected the row as it is in the shop. Your shop {describe([row])}.")
    return f"The platform answered {row.result['result']} to the second push."


@rule("RW005", "Pushes that a product was deleted", needs=("RW001", "RW003"))
def pushes_a_deletion(shop: Subject) -> str:
    item = shop.product()
    mark = len(shop.door.calls)
    shop.driver.delete_product(item.id)
    row = shop.row("products", item.id, mark, "as deleted", deleted=True)
    if row.result["result"] != "deleted":
        raise RuleBroken(f"Expected that the platform deletes it. Your shop {describe([row])}.")
    return f"Version {row.version} deleted it."


@rule("RW006", "Brings a deleted product back", needs=("RW005",))
def brings_a_product_back(shop: Subject) -> str:
    item = shop.product()
    mark = len(shop.door.calls)
    shop.driver.delete_product(item.id)
    shop.row("products", item.id, mark, "as deleted", deleted=True)
    mark = len(shop.door.calls)
    again = shop.change(item)
    row = shop.row("products", again.id, mark, "after it was deleted and made again")
    if row.result["result"] != "created":
        raise RuleBroken(f"Expected that the platform creates it again. Your shop {describe([row])}.")
    return "It is back under " + ("its own id." if again.id == item.id else "a new id.")


@rule("RW007", f"Loses none of {AT_ONCE * EACH} changes at once", needs=("RW001", "RW003"))
def loses_no_change(shop: Subject) -> str:
    items = [shop.product() for _ in range(AT_ONCE)]
    mark = len(shop.door.calls)

    def hurry(item: Item) -> Item:
        for _ in range(EACH):
            item = shop.change(item, name=f"Check {word()}")
        return item

    with ThreadPoolExecutor(AT_ONCE) as threads:
        changed = list(threads.map(hurry, items))
    for item in changed:
        shop.row("products", item.id, mark, f"named {item.name!r}, its last name", has("name", item.name))
    pushes = sum(len(shop.rows("products", item.id, mark)) for item in changed)
    return f"{AT_ONCE * EACH} changes came in {pushes} rows."


@rule("RW008", "Keeps all letters of a name, also those of four bytes", needs=("RW001",))
def keeps_letters(shop: Subject) -> str:
    mark, name = len(shop.door.calls), f"Käse 🧀 𝔛 北京 {word()}"
    item = shop.product(name=name, arrives=False)
    row = shop.row("products", item.id, mark, "that was made")
    same(row.data or {}, "name", name)
    return f"It came as {name!r}."


@rule("RW009", "Lets no refused row keep another one back", needs=("RW001",))
def one_refused_row(shop: Subject) -> str:
    mark = len(shop.door.calls)

    def refuse(call: Call, forward: Forward) -> Reply | None:
        if any(row.id == refused.id for row in call.rows):
            call.instead = call.with_row(refused.id, noSuchField=True)  # which the platform refuses
        return forward()

    with shop.door.between(busy):
        refused, good = shop.product(arrives=False), shop.product(arrives=False)
        shop.door.wait(lambda: bool(shop.pushes(good.id, mark)), shop.patience)
    with shop.door.between(refuse):
        row = shop.row("products", good.id, mark, "beside one that the platform refuses")
        shop.door.wait(
            lambda: any(each.refusal for each in shop.rows("products", refused.id, mark)), shop.patience
        )
    if not any(each.refusal for each in shop.rows("products", refused.id, mark)):
        raise RuleBroken("Expected pushes of both products. Your shop pushed one of them alone.")
    return f"The platform {row.result['result']} one, and refused the other."


@rule("RW010", "Waits as long as Retry-After says", needs=("RW001",))
def waits(shop: Subject) -> str:
    told: list[float] = []

    def limit(call: Call, forward: Forward) -> Reply | None:
        if not call.is_push or told:
            return forward()
        told.append(call.at)
        message = {"statusCode": 429, "message": "Too many requests.", "error": "Too Many Requests"}
        return Reply.of(429, message, Retry_After=str(WAIT))

    mark = len(shop.door.calls)
    with shop.door.between(limit):
        item = shop.product(arrives=False)
        shop.row("products", item.id, mark, "after an answer 429")
    again = min(call.at for call in shop.door.since(mark) if call.is_push and call.at > told[0])
    if again - told[0] < WAIT - 0.1:
        raise RuleBroken(
            f"Expected no push for {WAIT} s, as Retry-After said. Your shop pushed after {again - told[0]:.2f} s."
        )
    return f"The next push came after {again - told[0]:.1f} s."


def same(data: Record, name: str, value: object) -> None:
    if data.get(name) != value:
        raise RuleBroken(f"Expected {name} {value!r}. Your shop pushed {data.get(name)!r}.")


def amount(data: Record) -> Decimal | None:
    """The price of a product's row."""
    return None if data.get("price") is None else Decimal(str(data["price"]))


def last_push(shop: Subject, item: Item, since: int) -> SentRow:
    rows = shop.rows("products", item.id, since)
    if not rows:
        raise RuleBroken(
            f"Expected a push of the product {item.id}. Your shop pushed none within {shop.patience:g} s."
        )
    return rows[-1]

"""Shops with one fault each, by which each rule of the check is proved."""

import json
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

from extension_platform_store import (
    ApiError,
    Command,
    Commands,
    HookAnswer,
    Hooks,
    Refused,
    Sender,
    SqliteOutbox,
    StoreClient,
    Unreachable,
    Work,
)

from tests.store_client.checked_shop import CheckedShop, Configuration

FAULTS: dict[str, type[CheckedShop]] = {"key-of-before": CheckedShop}  # whose driver has the fault
"""By name. Those of the sender are made of classes of the client that do something else."""


def fault(name: str) -> Any:
    def add(shop: type[CheckedShop]) -> type[CheckedShop]:
        FAULTS[name] = shop
        return shop

    return add


class SenderShop(CheckedShop):
    """A shop whose fault is in its sender or outbox."""

    sender_class: type[Sender] = Sender
    outbox_class: type[SqliteOutbox] = SqliteOutbox

    def __init__(self, given: Configuration) -> None:
        super().__init__(given)
        self.outbox = self.outbox_class(self.connection)

    def sender(self) -> Sender:
        record = {"name": "Northwind Main", "currency": self.given.currency}
        return self.sender_class(self.client, self.outbox, self, record=record)


# Connect


@fault("key-in-the-url")
class KeyInUrl(CheckedShop):
    def sender(self) -> Sender:
        self.client._session.params = {"key": self.given.key}  # noqa: SLF001
        return super().sender()


class GivesUp(Sender):
    """Drops rows at an answer that isn't good."""

    after: type[Exception] = ApiError

    def _push_part(self, part: Sequence[tuple[Work, dict[str, Any]]], *, quiet: bool) -> None:
        try:
            super()._push_part(part, quiet=quiet)
        except self.after as error:
            if isinstance(error, ApiError) and error.status_code != 401:
                raise
            for work, _ in part:
                self._outbox.kept(work, "")


@fault("gives-up-at-401")
class GivesUpShop(SenderShop):
    sender_class = GivesUp


# Rows


@fault("price-without-cents")
class WholePrices(CheckedShop):
    def _product(self, row_id: str) -> dict[str, Any] | None:
        row = super()._product(row_id)
        return row and row | {"price": int(row["price"])}


@fault("parts-of-rows")
class PartsOfRows(CheckedShop):
    """Leaves out what hasn't changed since the last push."""

    def _product(self, row_id: str) -> dict[str, Any] | None:
        row = super()._product(row_id)
        if row and row_id in dict(self.outbox.versions("products")):
            del row["stock"]
        return row


class Backwards(SqliteOutbox):
    def take(self, limit: int) -> list[Work]:
        return [replace(work, version=10**13 - work.version) for work in super().take(limit)]


@fault("version-goes-back")
class VersionGoesBack(SenderShop):
    outbox_class = Backwards


class PushesOnce(GivesUp):
    after = Unreachable


@fault("pushes-once")
class PushesOnceShop(SenderShop):
    sender_class = PushesOnce


@fault("deletion-not-pushed")
class DeletesSilently(CheckedShop):
    def delete(self, product: str) -> None:
        with self.connection:
            self.connection.execute("DELETE FROM product WHERE id = ?", (product,))


class ForgetsDeleted(SqliteOutbox):
    """Begins with versions again for a row that was deleted."""

    def take(self, limit: int) -> list[Work]:
        deleted = set(self.state("deleted") or [])
        return [replace(work, version=1) if work.id in deleted else work for work in super().take(limit)]

    def kept(self, work: Work, digest: str) -> None:
        super().kept(work, digest)
        if not digest:
            self.note("deleted", [*(self.state("deleted") or []), work.id])


@fault("version-of-deleted-forgotten")
class ForgetsDeletedShop(SenderShop):
    outbox_class = ForgetsDeleted


@fault("change-lost-in-a-hurry")
class LosesInAHurry(CheckedShop):
    """Marks no second change within five seconds."""

    def mark(self, resource: Any, row_id: str, quote: str = "") -> None:
        last = self.outbox.state(f"marked {row_id}") or 0.0
        self.outbox.note(f"marked {row_id}", time.time())
        if time.time() - last > 5 or resource != "products":
            super().mark(resource, row_id, quote)


@fault("letters-cut")
class CutsLetters(CheckedShop):
    """A database whose texts have three bytes a letter."""

    def _product(self, row_id: str) -> dict[str, Any] | None:
        row = super()._product(row_id)
        return row and row | {"name": re.sub(r"[^\u0000-\uffff]", "?", row["name"])}


class OneByOne(Sender):
    """Goes on only after the oldest row was taken."""

    def _push(self, works: Sequence[Work]) -> None:
        for work in works:
            super()._push([work])
            if any(row_id == work.id for _, row_id, _ in self._outbox.refused()):
                self._outbox.mark(work.resource, work.id)
                raise Unreachable("a row was refused")


@fault("refused-row-keeps-others-back")
class OneByOneShop(SenderShop):
    sender_class = OneByOne


class Hurries(Sender):
    def once(self) -> float:
        return min(super().once(), 0.1)


@fault("retry-after-not-read")
class HurriesShop(SenderShop):
    sender_class = Hurries


# Orders and money


class WantsAll(Sender):
    def _take_wanted(self, record: dict[str, Any]) -> None:
        super()._take_wanted(
            record | {"orders": True, "ordersSince": record["ordersSince"] or "2020-01-01T00:00:00Z"}
        )


@fault("orders-that-nobody-reads")
class WantsAllShop(SenderShop):
    sender_class = WantsAll


class ChangedOrders(CheckedShop):
    def _order(self, row_id: str) -> dict[str, Any] | None:
        row = super()._order(row_id)
        return row and row | self.other(row)

    def other(self, row: dict[str, Any]) -> dict[str, Any]:
        """The fields that are wrong; none here."""
        return {}


@fault("sum-without-fee")
class SumWithoutFee(ChangedOrders):
    def other(self, row: dict[str, Any]) -> dict[str, Any]:
        return {"amount": row["subtotal"]}


@fault("state-not-mapped")
class StateNotMapped(CheckedShop):
    def status(self, state: str) -> str:
        return "PENDING" if state == "void" else super().status(state)


@fault("jump-not-seen")
class JumpNotSeen(CheckedShop):
    """Keeps what the first move was as long as that isn't pushed."""

    def move(self, order: str, state: str) -> None:
        time.sleep(0.3)  # in which an answer is noted
        if order not in self.outbox.marked("orders"):
            self.outbox.note(f"state {order}", state)
        super().move(order, state)

    def _order(self, row_id: str) -> dict[str, Any] | None:
        row, state = super()._order(row_id), self.outbox.state(f"state {row_id}")
        return row and row | ({"status": self.status(state)} if state else {})


@fault("cents-of-every-currency")
class CentsOfEvery(CheckedShop):
    def minor(self, amount: Decimal) -> int:
        return int(amount * 100)


@fault("discount-not-shown")
class DiscountNotShown(CheckedShop):
    def apps_amounts(self, *given: Any, confirm: bool) -> tuple[Decimal, Decimal]:
        discount, fee = super().apps_amounts(*given, confirm=confirm)
        return discount if confirm else Decimal(0), fee


@fault("discount-not-charged")
class DiscountNotCharged(CheckedShop):
    def apps_amounts(self, *given: Any, confirm: bool) -> tuple[Decimal, Decimal]:
        discount, fee = super().apps_amounts(*given, confirm=confirm)
        return Decimal(0) if confirm else discount, fee


@fault("quote-not-pushed")
class QuoteNotPushed(CheckedShop):
    def mark(self, resource: Any, row_id: str, quote: str = "") -> None:
        super().mark(resource, row_id)


@fault("fee-of-its-own")
class FeeOfItsOwn(CheckedShop):
    def apps_amounts(self, *given: Any, confirm: bool) -> tuple[Decimal, Decimal]:
        discount, _ = super().apps_amounts(*given, confirm=confirm)
        return discount, Decimal(3)


# The checkout


class Patient(Hooks):
    """Waits for the platform as long as it takes."""

    def _timed(
        self, point: Any, data: Mapping[str, Any], quote: str, budget_ms: int, about: dict[str, Any]
    ) -> dict[str, Any]:
        return self._make_client().ask(point, data, budget_ms=400, quote=quote or None, timeout=60, **about)


@fault("no-budget")
class NoBudget(CheckedShop):
    def hooks(self) -> Hooks:
        return Patient(super().hooks()._make_client)  # noqa: SLF001


@fault("pushes-in-the-request")
class PushesInRequest(CheckedShop):
    def after_placing(self, order: str) -> None:
        row = {"resource": "orders", "id": order, "version": 1, "data": self._order(order)}
        with suppress(ApiError, Unreachable):
            self.client.push([row])


@fault("reason-not-shown")
class ReasonNotShown(CheckedShop):
    def said(self, reason: str | None) -> str:
        return "Something went wrong."


class Forgetful(Hooks):
    def ask(self, *given: Any, **options: Any) -> HookAnswer:
        return super().ask(*given, **options | {"fresh": True})


@fault("asks-on-every-page")
class AsksOnEveryPage(CheckedShop):
    def hooks(self) -> Hooks:
        return Forgetful(super().hooks()._make_client, budget_ms=self.given.budget_ms)  # noqa: SLF001


class Fragile(Hooks):
    def ask(self, *given: Any, **options: Any) -> HookAnswer:
        answer = super().ask(*given, **options)
        if self._failures and answer.answer.get("valid"):  # the last question
            return replace(answer, answer={"valid": False, "reason": "Try again later."})
        return answer


@fault("stops-when-the-platform-fails")
class StopsWhenPlatformFails(CheckedShop):
    def hooks(self) -> Hooks:
        return Fragile(super().hooks()._make_client, budget_ms=self.given.budget_ms)  # noqa: SLF001


# Pages and people


@fault("nothing-on-the-page")
class NothingOnPage(CheckedShop):
    def page(self) -> tuple[str, dict[str, str]]:
        return "<!doctype html><h1>About us</h1>", {}


@fault("frames-not-allowed")
class FramesNotAllowed(CheckedShop):
    def frames(self, hosts: dict[str, list[str]]) -> str:
        return "'self'"


@fault("block-stays-after-pause")
class BlockStays(CheckedShop):
    def placed(self) -> dict[str, Any]:
        placed = super().placed()
        if placed["blocks"]:
            self.outbox.note("placed", placed)
        kept: dict[str, Any] = self.outbox.state("placed") or placed
        return kept


@fault("ticket-kept")
class TicketKept(CheckedShop):
    """As one that is mailed to be used later."""

    def open_apps(self, next_page: str | None, *, signed_in: bool) -> str | None:
        if not signed_in or next_page:
            return super().open_apps(next_page, signed_in=signed_in)
        kept = self.outbox.state("ticket") or super().open_apps(None, signed_in=True)
        self.outbox.note("ticket", kept)
        return str(kept)


@fault("ticket-for-anybody")
class TicketForAnybody(CheckedShop):
    def open_apps(self, next_page: str | None, *, signed_in: bool) -> str | None:
        return super().open_apps(next_page, signed_in=True)


@fault("next-dropped")
class NextDropped(CheckedShop):
    def open_apps(self, next_page: str | None, *, signed_in: bool) -> str | None:
        return super().open_apps(None, signed_in=signed_in)


@fault("next-elsewhere")
class NextElsewhere(CheckedShop):
    def open_apps(self, next_page: str | None, *, signed_in: bool) -> str | None:
        if next_page and "//" in next_page:
            return next_page
        return super().open_apps(next_page, signed_in=signed_in)


# Commands


@fault("old-version-in-the-answer")
class OldVersion(CheckedShop):
    def commands(self) -> Commands:
        self.outbox.next_version = lambda resource, row_id: 1  # type: ignore[method-assign]
        return super().commands()


class Trusting(Commands):
    def answer(self, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, Any]]:
        from tests.store_client.signing import signed

        read = json.loads(body)
        return super().answer(*signed(self._secret, **read))


@fault("forged-command-accepted")
class TrustsAll(CheckedShop):
    def commands(self) -> Commands:
        return Trusting(self.given.secret, self.outbox, self, {"order.set_status": self.set_status})


class Repeats(SqliteOutbox):
    def claim(self, command_id: str) -> tuple[int, dict[str, Any]] | None:
        self._change("DELETE FROM extension_platform_command WHERE command_id = ?", [command_id])
        return super().claim(command_id)


@fault("command-done-twice")
class DoneTwice(SenderShop):
    outbox_class = Repeats


@fault("refusal-without-a-reason")
class NoReason(CheckedShop):
    def set_status(self, command: Command) -> str:
        try:
            return super().set_status(command)
        except Refused as refusal:
            raise Refused("", refusal.status) from refusal


# Customers


@fault("erasure-not-passed-on")
class NotPassedOn(CheckedShop):
    def pass_on(self, email: str) -> None:
        pass


@fault("erasure-leaves-the-phone")
class LeavesPhone(CheckedShop):
    def blanked(self, customer: dict[str, str]) -> dict[str, str] | None:
        return {"phone": customer["phone"]}


@fault("erased-name-pushed")
class ErasedNamePushed(CheckedShop):
    """Pushes what a service beside it still has."""

    def blanked(self, customer: dict[str, str]) -> dict[str, str] | None:
        with open(f"{self.given.file}.names", "a", encoding="utf-8") as other:
            other.write(customer["name"])
        return {"name": ""}

    def _order(self, row_id: str) -> dict[str, Any] | None:
        row = super()._order(row_id)
        if row and row["customer"] == {"name": ""}:
            with open(f"{self.given.file}.names", encoding="utf-8") as other:
                return row | {"customer": {"name": other.read()}}
        return row


# Repair


class MarksGoFirst(SqliteOutbox):
    """Drops a mark before its push has an answer."""

    def take(self, limit: int) -> list[Work]:
        works = super().take(limit)
        for work in works:
            self._drop(work)
        return works


@fault("mark-dropped-before-the-push")
class MarksGoFirstShop(SenderShop):
    outbox_class = MarksGoFirst


class ComparingClient(StoreClient):
    """Whose snapshots are something else."""

    fault = ""

    def compare(self, *given: Any, **options: Any) -> dict[str, Any]:
        answer = super().compare(*given, **options)
        return answer | {"missing": [], "outdated": []} if self.fault == "lost" else answer

    def _record(self, method: str, path: str, body: Any = None, **options: Any) -> dict[str, Any]:
        if path == "/snapshot" and self.fault == "delete":
            body = body | {"delete": False}
        if path == "/rows" and self.fault == "force":
            for row in body["rows"]:
                row.pop("force", None)
        return super()._record(method, path, body, **options)


class ComparingShop(CheckedShop):
    client_fault = ""

    def __init__(self, given: Configuration) -> None:
        super().__init__(given)
        self.client = ComparingClient(given.url, given.key, "main", timeout=3)
        self.client.fault = self.client_fault


@fault("lost-rows-not-pushed")
class LostStayLost(ComparingShop):
    client_fault = "lost"


@fault("unknown-rows-stay")
class UnknownStay(ComparingShop):
    client_fault = "delete"


@fault("no-force")
class NoForce(ComparingShop):
    client_fault = "force"

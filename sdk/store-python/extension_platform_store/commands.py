"""What apps ask of the shop: moving an order, placing one; and what became of payments.

A command is carried out in one transaction with a note of its id, so that one that is repeated has its first effect alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .outbox import Outbox
from .shop import Shop
from .signatures import InvalidSignature, verify


class Refused(Exception):
    """Raised by a handler to say no: the app gets the message. ``status`` is 404, 409 or 422."""

    def __init__(self, message: str, status: int = 409) -> None:
        super().__init__(message)
        self.status, self.message = status, message[:300]


@dataclass(frozen=True, slots=True)
class Command:
    """``data`` is as the guide has it, with the shop's ids and money in major units."""

    command: str
    command_id: str
    app_id: str
    app_name: str
    data: dict[str, Any]


Handler = Callable[[Command], str | None]


class Commands:
    """Give it what your web framework received; it returns a status and a JSON object to answer with.

    ``handlers`` has a function for each command that the shop carries out: ``order.set_status`` and ``order.create`` return the
    id of the order, ``payment.set_status`` returns None. They run in the outbox's transaction and may raise ``Refused``;
    whatever else they raise rolls all of it back, and is raised. A command without a handler is refused.
    """

    def __init__(self, secret: str, outbox: Outbox, shop: Shop, handlers: Mapping[str, Handler]) -> None:
        self._secret, self._outbox, self._shop, self._handlers = secret, outbox, shop, handlers

    def answer(self, headers: Mapping[str, str], body: bytes) -> tuple[int, dict[str, Any]]:
        """Check, carry out, answer. 401 for a request that the platform didn't sign, 400 for one that is no command."""
        try:
            verify(self._secret, headers, body)
        except InvalidSignature as error:
            return 401, {"message": str(error)}
        command = _read(body)
        if command is None:
            return 400, {"message": "The body is no command."}
        if command[1] != self._outbox.store:
            return 404, {"message": "There is no such store."}
        with self._outbox.atomic():
            status, noted = self._done(command[0])
            if "orderId" not in noted:
                return status, noted
            order = self._row(noted["orderId"])
        return (status, {"order": order}) if order else (404, {"message": "The order is not here any more."})

    def _done(self, command: Command) -> tuple[int, dict[str, Any]]:
        before = self._outbox.claim(command.command_id)
        if before is not None:
            return before
        try:
            status, answer = 200, self._carried_out(command)
        except Refused as refusal:
            status, answer = refusal.status, {"message": refusal.message}
        self._outbox.answered(command.command_id, status, answer)
        return status, answer

    def _carried_out(self, command: Command) -> dict[str, Any]:
        handler = self._handlers.get(command.command)
        if handler is None:
            raise Refused("This shop does not do that.", 422)
        with self._outbox.atomic():  # of a refusal nothing stays but its note
            order = handler(command)
        return {} if order is None else {"orderId": order}

    def _row(self, order: str) -> dict[str, Any] | None:
        """The order as it is now, under a new version: a repeated answer is as good as the first."""
        version = self._outbox.next_version("orders", order)
        row = self._shop.rows("orders", [order]).get(order)
        return {"id": order, "version": version} | row if row else None


def _read(body: bytes) -> tuple[Command, str] | None:
    """The command and its store."""
    try:
        read = json.loads(body)
        command = Command(
            command=str(read["command"]),
            command_id=str(read["commandId"]),
            app_id=str(read["appId"]),
            app_name=str(read["appName"]),
            data=dict(read["data"]),
        )
        return command, str(read["store"])
    except (KeyError, TypeError, ValueError):
        return None

"""The payments that Bell Pay was asked for: the newest 500, in memory and in a file."""

from __future__ import annotations

import json
import threading
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from pathlib import Path

from .files import write_private

KEPT = 500


@dataclass(frozen=True, slots=True)
class Invoice:
    """One payment of one order. ``amount`` is in minor units of ``currency``.

    ``id`` is also what lets somebody see and pay it, so it can't be guessed. ``status`` is OPEN, COMPLETED, FAILED, or
    REPLACED by a later payment of the same order.
    """

    id: str
    business_id: str
    order_id: str
    amount: int
    currency: str
    description: str
    expires_at: str
    status: str = "OPEN"

    def is_over(self, now: datetime) -> bool:
        """Whether the time to pay it is over."""
        return datetime.fromisoformat(self.expires_at) <= now


class InvoiceStore:
    """Invoices by id, the oldest first, in a JSON file of mode 0600; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._invoices = _load(path)

    def get(self, invoice_id: str) -> Invoice | None:
        """One invoice."""
        with self._lock:
            return self._invoices.get(invoice_id)

    def add(self, invoice: Invoice) -> None:
        """Keep an invoice, in the place of open ones for the same order."""
        with self._lock:
            former = {
                key: replace(each, status="REPLACED")
                if (each.business_id, each.order_id, each.status)
                == (invoice.business_id, invoice.order_id, "OPEN")
                else each
                for key, each in self._invoices.items()
            }
            self._write(dict(list(former.items())[-KEPT + 1 :]) | {invoice.id: invoice})

    def settle(self, invoice_id: str, status: str) -> None:
        """Note how it ended."""
        with self._lock:
            if invoice := self._invoices.get(invoice_id):
                self._write(self._invoices | {invoice_id: replace(invoice, status=status)})

    def forget(self, business_id: str) -> None:
        """Delete every invoice of a store."""
        with self._lock:
            left = {key: each for key, each in self._invoices.items() if each.business_id != business_id}
            if len(left) < len(self._invoices):
                self._write(left)

    def _write(self, invoices: dict[str, Invoice]) -> None:
        """The file first, as in ``ConnectionStore``."""
        rows = [asdict(invoice) for invoice in invoices.values()]
        write_private(self._path, json.dumps({"invoices": rows}, indent=2) + "\n")
        self._invoices = invoices


def _load(path: Path) -> dict[str, Invoice]:
    """Raises ``ValueError`` for a file that isn't ours: starting empty would overwrite it."""
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))["invoices"]
        invoices = [Invoice(**row) for row in rows]
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is not an invoice file of this app: {error}") from error
    return {invoice.id: invoice for invoice in invoices}

"""The page where a shopper pays with Bell Pay."""

from __future__ import annotations

from datetime import UTC, datetime
from html import escape

from extension_platform_sdk import to_major

from .connections import Connection
from .document import render_document
from .invoices import Invoice
from .times import for_people
from .wording import money

_ENDED = {
    "COMPLETED": ("good", "Paid", "The store knows it. You can close this page."),
    "FAILED": (
        "bad",
        "Not paid",
        "The store knows it. On the page of your order you can choose another way to pay.",
    ),
    "REPLACED": (
        "neutral",
        "There is a newer payment",
        "This order is being paid by another payment by now.",
    ),
}


def render_payment(invoice: Invoice, connection: Connection | None, problem: str = "") -> str:
    """The amount, and two buttons while it can be paid. ``problem`` is why the last press did nothing."""
    store = connection.business_name if connection else ""
    amount = money(to_major(invoice.amount, invoice.currency), invoice.currency)
    main = f"""<main><article class="payment">
<p class="soft">{escape(store or "A store")}</p>
<h1>{escape(amount)}</h1>
<p>{escape(invoice.description)}</p>
{_notice("bad", "The payment was not made", problem) if problem else ""}
{_body(invoice, amount)}
{_way_back(connection)}
</article></main>"""
    return render_document(f"Bell Pay: {amount}", main)


def render_no_payment() -> str:
    """For an address that leads to no invoice."""
    main = """<main><article class="payment"><h1>There is no such payment</h1>
<p>Its store may have uninstalled Order Bell.</p></article></main>"""
    return render_document("Bell Pay: no payment", main)


def _body(invoice: Invoice, amount: str) -> str:
    if invoice.status != "OPEN":
        return _notice(*_ENDED[invoice.status])
    if invoice.is_over(datetime.now(UTC)):
        return _notice("neutral", "The time is over", "On the page of your order you can choose how to pay.")
    return f"""<form method="post" action="/pay/{escape(invoice.id)}">
<button class="primary" name="status" value="COMPLETED">Pay {escape(amount)}</button>
<button class="plain" name="status" value="FAILED">Let it fail</button>
</form>
<p class="small">No real money moves: this is a sample. The payment ends at {for_people(invoice.expires_at)}.</p>"""


def _notice(kind: str, title: str, text: str) -> str:
    role = "alert" if kind == "bad" else "status"
    return f"""<div class="notice {kind}" role="{role}"><strong>{title}</strong><p>{escape(text)}</p></div>"""


def _way_back(connection: Connection | None) -> str:
    if connection is None or not connection.storefront_url:
        return ""
    return f'<p class="back"><a href="{escape(connection.storefront_url)}">Back to the store</a></p>'

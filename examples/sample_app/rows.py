"""One received webhook as a row of the page."""

from __future__ import annotations

import json
from html import escape

from .connections import Connection
from .inbox import Received
from .times import for_people
from .wording import summarize

_YES = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="M3 8.5 6.5 12 13 4.5"/></svg>'
_NO = '<svg viewBox="0 0 16 16" aria-hidden="true"><path d="m4 4 8 8M12 4l-8 8"/></svg>'


def render_row(call: Received, connection: Connection | None) -> str:
    """``connection`` is the store that the call names, ``None`` when it isn't one of ours.

    Of an unverified call not even the store is believed.
    """
    if not call.verified:
        connection = None
    summary = summarize(call, connection.currency if connection else "")
    facts = [_time(call.received_at)]
    if connection and connection.business_name:
        facts.append(escape(connection.business_name))
    if call.delivery_id:
        facts.append(f"Delivery <code>{escape(call.delivery_id)}</code>")
    return f"""
<li id="received-{call.number}" data-webhook="{escape(call.webhook_id or "")}">
<div class="head"><h3>{escape(call.event)}</h3> {_pill(call)}</div>
{f'<p class="summary">{escape(summary)}</p>' if summary else ""}
<p class="facts">{"".join(f"<span>{fact}</span>" for fact in facts)}</p>
<details><summary>{"JSON" if call.verified else "What was sent, not verified"}</summary>
<pre tabindex="0">{escape(_source(call))}</pre></details>
</li>"""


def _pill(call: Received) -> str:
    if call.reason:
        word = "Not handled" if call.verified else "Refused"
        return f'<span class="pill bad">{_NO}{word}: {escape(call.reason)}</span>'
    again = '<span class="pill">Repeat, already handled</span>' if call.repeat else ""
    return f'<span class="pill ok">{_YES}Signature verified</span>{again}'


def _source(call: Received) -> str:
    """The body: of a verified call its envelope, of another one the text as it came."""
    if isinstance(call.data, str):
        return call.data or "(the body was empty or not read)"
    envelope = {
        "event": call.event,
        "timestamp": call.timestamp,
        "webhookId": call.webhook_id,
        "businessId": call.business_id,
        "data": call.data,
    }
    return json.dumps(envelope, indent=2, ensure_ascii=False)


def _time(text: str) -> str:
    return f'<time datetime="{escape(text)}">{for_people(text)}</time>'

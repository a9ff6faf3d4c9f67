"""The body of a webhook request.

It is put together anew for each attempt, and is the same each time, byte for byte: the event keeps the text of its
`data`, and the rest has a fixed order and form. A receiver may compare or store bodies, so changing anything here
changes what retries of older events send.
"""

import json
from datetime import datetime

from common.times import iso


def render_body(
    event_type: str, occurred_at: datetime, webhook_id: str, business_id: str, data_text: str
) -> bytes:
    """The UTF-8 JSON text `{"event", "timestamp", "webhookId", "businessId", "data"}` (interface, "Events").

    `occurred_at` is the event's time, aware; `data_text` is JSON text, taken over as it is.
    """
    head = {
        "event": event_type,
        "timestamp": iso(occurred_at),
        "webhookId": webhook_id,
        "businessId": business_id,
    }
    fields = ",".join(f'"{name}":{json.dumps(value)}' for name, value in head.items())
    return f'{{{fields},"data":{data_text}}}'.encode()

"""Errors for the operator's own Sentry, or what speaks its protocol. Imported if `SENTRY_DSN` is set.

An event has types and lines of code, but neither texts of errors nor anything of the request, which may hold addresses,
names and keys. Its tag `request_id` leads to the line in the log.
"""

from typing import Any, Final

import sentry_sdk

from common import tracing

UNWANTED: Final = ("request", "user", "breadcrumbs", "extra", "server_name")


def start(dsn: str) -> None:
    sentry_sdk.init(
        dsn=dsn,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        before_send=without_personal_data,
    )


def without_personal_data(event: Any, hint: Any) -> Any:
    for name in UNWANTED:
        event.pop(name, None)
    for each in event.get("exception", {}).get("values", []):
        each.pop("value", None)
    if line := event.get("logentry"):
        event["logentry"] = {
            "message": line.get("message", "")
        }  # the text before its parameters are filled in
    if current := tracing.current():
        tags = {"request_id": str(current.request_id), "trace_id": current.trace_id.hex}
        event["tags"] = {**event.get("tags", {}), **tags}
    return event

"""What Schemathesis needs to know beyond the document: ids that exist, and URLs that may be sent to.

Loaded by its command line (`SCHEMATHESIS_HOOKS`); the cast comes from the file named by `CONTRACT_CAST`.
"""

import json
import os
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import strategies as st

CAST: dict[str, Any] = json.loads(Path(os.environ["CONTRACT_CAST"]).read_text())
# Which of these a call may wear out; the access token's own app is only read.
SPARE = {"DELETE /webhooks/{webhookId}": "spare_webhooks", "DELETE /developer/apps/{appId}": "spare_apps"}

# A public IP address, so that no name has to be resolved.
schemathesis.openapi.format(
    "uri", st.from_regex(r"https://93\.184\.216\.34/[a-z0-9/._~-]{0,40}", fullmatch=True)
)
schemathesis.openapi.format("password", st.from_regex(r"[a-z]{6,12} [a-z]{6,12} [0-9]{3}", fullmatch=True))
schemathesis.openapi.format(
    "email", st.from_regex(r"[a-z][a-z0-9]{0,20}@[a-z]{2,12}\.example\.com", fullmatch=True)
)


def known(label: str, name: str, number: int) -> str | None:
    """An id that exists, or None where the generated one shall stay."""
    if label in SPARE:
        pool = CAST[SPARE[label]]
        return str(pool.pop()) if pool else None
    read = label.startswith("GET")
    tested = CAST["app"] if read or "/checks/" in label else CAST["tested_app"]
    of_app = label.split(" ", 1)[1].startswith("/developer")
    ids = {
        "productId": CAST["product"],
        "orderId": CAST["paid_order"] if label.endswith("/payment") else CAST["order"],
        "slug": CAST["page_slug"] if "/pages/" in label else CAST["product_slug"],
        "webhookId": CAST["webhook"],
        "appId": tested,
        "deliveryId": CAST["app_delivery" if of_app and not read else "delivery"],
        "exportId": CAST["export"],
        "number": 1,
        "listenerId": 2_147_483_648,  # a listener that exists would make the run wait for work
        "checkId": CAST["check"],
        "memberId": CAST["member"],
        "storeId": CAST["store"],
    }
    return str(ids[name]) if name in ids else None


@schemathesis.hook
def map_case(context: Any, case: Any) -> Any:
    """Mostly ids that exist: without, nearly every answer would be a 404."""
    meta = case.meta
    if not case.path_parameters or meta is None:
        return case
    path = schemathesis.core.parameters.ParameterLocation.PATH  # type: ignore[attr-defined]
    if meta.is_negative_at(path):
        return case
    label = case.operation.label
    for name, value in list(case.path_parameters.items()):
        number = sum(map(ord, str(value)))
        if number % 8 and (found := known(label, name, number)):
            case.path_parameters[name] = found
    return case

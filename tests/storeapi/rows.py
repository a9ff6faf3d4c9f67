"""Rows as a shop sends them, and the app that reads them."""

from typing import Any

from django.test import Client

from tests.endpoints_table import ROWS
from webhooks.models import Event

MAIN = "/store-api/stores/main"
WHOLE = ROWS
PRODUCT, ORDER, REVIEW, PAGE = WHOLE.values()


def put(shop: Client, path: str, version: int = 1, **fields: Any) -> Any:
    """PUT the row `products/p-1`, say, with what makes it whole; `fields` replace some."""
    body = WHOLE[path.partition("/")[0]] | fields | {"version": version}
    return shop.put(f"{MAIN}/{path}", body, content_type="application/json")


def result(shop: Client, path: str, version: int = 1, **fields: Any) -> tuple[str, list[str]]:
    """What became of it, and the events."""
    answer = put(shop, path, version, **fields)
    assert answer.status_code == 200, answer.content
    return answer.json()["result"], answer.json()["events"]


def post(shop: Client, path: str, **body: Any) -> Any:
    return shop.post(f"{MAIN}/{path}", body, content_type="application/json")


def batched(resource: str, id_: str, version: int = 1, **fields: Any) -> dict[str, Any]:
    return {"resource": resource, "id": id_, "version": version, "data": WHOLE[resource] | fields}


def published() -> list[str]:
    return list(Event.objects.order_by("position", "id").values_list("type", flat=True))


def refusal(answer: Any) -> tuple[int, list[str]]:
    """The status and the fields that are wrong."""
    return answer.status_code, [each["field"] for each in answer.json().get("details", [])]

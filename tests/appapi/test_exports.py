"""Exports: a consistent file, and a feed that goes on from it without a gap."""

import gzip
import stat
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import pytest
import time_machine
from django.core.files.storage import storages
from django.db import connection
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from appapi.models import Export, ExportStatus
from appapi.services import exports
from appapi.services.exports import delete_expired, make_exports
from installations.models import Installation
from stores.models import Product
from stores.services.catalogue.products import create_product, delete_product, update_product
from tests import factories
from tests.clients import client_of
from tests.webhooks.helpers import wait_for_feed

# A worker reads in a transaction of its own, which sees nothing of a test's.
pytestmark = pytest.mark.django_db(transaction=True)

SPEC = "Contract 5 Webhooks"


def request_export(api: Client, resource: str = "products") -> str:
    answer = api.post("/app-api/exports", {"resource": resource}, content_type="application/json")
    assert (answer.status_code, answer.json()["status"]) == (202, "PENDING"), answer.content
    return answer.json()["id"]


def made(api: Client, resource: str = "products") -> dict[str, Any]:
    export_id = request_export(api, resource)
    make_exports()
    return api.get(f"/app-api/exports/{export_id}").json()


def fetch(api: Client, export: dict[str, Any], **headers: str) -> Any:
    return api.get(urlsplit(export["url"]).path, headers=headers)


def records(api: Client, export: dict[str, Any]) -> list[dict[str, Any]]:
    answer = fetch(api, export)
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/gzip")
    assert "Content-Encoding" not in answer
    return [orjson.loads(line) for line in gzip.decompress(answer.getvalue()).splitlines()]


def test_file_of_an_export_is_for_the_platforms_user_alone(api: Client, sandbox: Business) -> None:
    factories.order(sandbox)
    made(api, "orders")
    file = Path(storages["exports"].path(Export.objects.get().file_name))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.spec(
    "Contract 23 What an order tells", "Orders of exports have customer.key and the app's own attributes"
)
def test_export_of_orders_has_the_keys_and_attributes_of_this_installation(
    api: Client, sandbox: Business, dana: User
) -> None:
    bread = factories.product(sandbox)
    other = client_of(factories.installation(factories.app(dana), sandbox))
    for client, slot in ((api, "Friday"), (other, "Monday")):
        order = {
            "items": [{"productId": str(bread.pk), "quantity": 1}],
            "customer": {"name": "Kim", "email": "kim@example.com"},
            "deliveryMethod": "PICKUP",
            "paymentMethod": "CASH",
            "attributes": {"slot": slot},
        }
        assert client.post("/app-api/orders", order, content_type="application/json").status_code == 201
    own, others = (records(client, made(client, "orders")) for client in (api, other))
    assert [each["attributes"] for each in own] == [{}, {"slot": "Friday"}]
    assert [each["attributes"] for each in others] == [{"slot": "Monday"}, {}]
    [key], [another] = ({each["customer"]["key"] for each in found} for found in (own, others))
    assert key.startswith("shp_")
    assert another.startswith("shp_")
    assert key != another


@pytest.mark.spec(SPEC, "POST /app-api/exports makes a file of the list's records, one export at a time")
@pytest.mark.parametrize("resource", ["products", "orders"])
def test_export_holds_what_the_list_returns(
    api: Client, sandbox: Business, elsewhere: Installation, resource: str
) -> None:
    for _ in range(3):
        factories.product(sandbox)
        factories.order(sandbox)
        factories.product(elsewhere.business)
    export_id = request_export(api, resource)
    pending = api.get(f"/app-api/exports/{export_id}").json()
    assert pending == {
        "id": export_id, "resource": resource, "status": "PENDING",
        "rows": None, "url": None, "feedCursor": None, "expiresAt": None,
    }  # fmt: skip
    assert api.get(f"/app-api/exports/{export_id}/file").status_code == 404
    again = api.post("/app-api/exports", {"resource": resource}, content_type="application/json")
    assert again.status_code == 409
    assert make_exports() == 1
    export = api.get(f"/app-api/exports/{export_id}").json()
    listed = api.get(f"/app-api/{resource}?limit=50").json()["data"]
    assert (export["status"], export["rows"]) == ("READY", len(listed))
    assert records(api, export) == listed
    assert len(listed) >= 3
    assert client_of(elsewhere).get(f"/app-api/exports/{export_id}").status_code == 404
    with time_machine.travel(timezone.now() + timedelta(hours=24, minutes=1)):
        assert api.get(f"/app-api/exports/{export_id}").status_code == 404
        assert delete_expired() == 1
    assert not exports.files().exists(f"{export_id}.ndjson.gz")


@pytest.mark.spec(SPEC, "The file of an export has a strong ETag, Range and If-Range")
def test_interrupted_download_goes_on(api: Client, sandbox: Business) -> None:
    factories.product(sandbox)
    export = made(api)
    whole = fetch(api, export)
    data, etag = whole.getvalue(), whole["ETag"]
    assert etag.startswith('"')
    size = len(data)
    for asked, part in {
        "bytes=0-9": data[:10],
        "bytes=10-": data[10:],
        "bytes=-7": data[-7:],
        f"bytes=5-{size + 9}": data[5:],
    }.items():
        answer = fetch(api, export, range=asked, if_range=etag)
        start = size - len(part) if asked != "bytes=0-9" else 0
        assert (answer.status_code, answer.getvalue()) == (206, part)
        assert answer["Content-Range"] == f"bytes {start}-{start + len(part) - 1}/{size}"
        assert answer["Content-Length"] == str(len(part))
    for ignored in (
        {"range": "bytes=0-9", "if_range": '"another"'},
        {"range": "bytes=0-1,4-5"},
        {"range": "lines=1-2"},
        {"range": "bytes=-"},
        {"range": "bytes=9-5"},
    ):
        answer = fetch(api, export, **ignored)
        assert (answer.status_code, answer.getvalue()) == (200, data)
    for unsatisfiable in (f"bytes={size}-", "bytes=-0"):
        refused = fetch(api, export, range=unsatisfiable)
        assert (refused.status_code, refused["Content-Range"]) == (416, f"bytes */{size}")
        assert refused.json()["error"] == "Range Not Satisfiable"


@pytest.mark.spec(SPEC, "An export needs the scope of its list")
def test_export_needs_the_scope_of_its_list(api_with: Callable[..., Client], sandbox: Business) -> None:
    api = api_with("read_products")
    refused = api.post("/app-api/exports", {"resource": "orders"}, content_type="application/json")
    assert refused.status_code == 403
    assert "read_orders" in refused.json()["message"]
    assert not Export.objects.exists()
    wrong = api.post("/app-api/exports", {"resource": "reviews"}, content_type="application/json")
    assert wrong.status_code == 400
    export = made(api)
    Installation.objects.update(granted_scopes=[], narrowed_scopes=[])
    assert api.get(f"/app-api/exports/{export['id']}").status_code == 403
    assert fetch(api, export).status_code == 403


def test_export_whose_worker_died_is_made_by_another(api: Client, sandbox: Business) -> None:
    export_id = request_export(api)
    Export.objects.update(lease_until=timezone.now() + timedelta(minutes=1))
    assert make_exports() == 0
    Export.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert make_exports() == 1
    assert Export.objects.get(pk=export_id).status == ExportStatus.READY


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.spec(SPEC, "Export and feed together give the final state, whatever changes meanwhile")
def test_feed_goes_on_from_the_file_without_a_gap(api: Client, sandbox: Business, monkeypatch: Any) -> None:
    monkeypatch.setattr("appapi.middleware.REQUESTS_A_MINUTE", 10_000)
    for _ in range(150):
        factories.product(sandbox)
    stop = threading.Event()

    def change() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            product = Product.objects.filter(business=sandbox).order_by("?").first()
            assert product
            if number % 3 == 0:
                create_product(business=sandbox, name=f"New {number}", price=100)
            elif number % 3 == 1:
                delete_product(product=product)
            else:
                update_product(product=product, name=f"Renamed {number}")
        connection.close()

    changing = threading.Thread(target=change)
    changing.start()
    try:
        files = [made(api) for _ in range(3)]
    finally:
        stop.set()
        changing.join()
    wait_for_feed()
    final = {str(pk): name for pk, name in Product.objects.filter(business=sandbox).values_list("pk", "name")}
    for export in files:
        known = {record["id"]: record["name"] for record in records(api, export)}
        cursor, more = export["feedCursor"], True
        while more:
            page = api.get("/app-api/events", {"after": cursor, "limit": 500}).json()
            for event in page["data"]:
                if event["event"] == "product.deleted":
                    known.pop(event["data"]["id"], None)
                elif event["event"] in ("product.created", "product.updated"):
                    known[event["data"]["id"]] = event["data"]["name"]
            cursor, more = page["nextCursor"], page["hasMore"]
        assert known == final

"""What the platform frames of the sample app, who may frame it, and what anybody may read there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import requests

from .stores import Store

FRAMES = ["/block/recent-orders", "/widget/ring-us", "/admin/overview"]


@pytest.mark.spec(
    "Contract 6 Extensions", "Frames of an app name the platform as the only page that may show them"
)
@pytest.mark.parametrize("path", FRAMES)
def test_platform_alone_may_frame(store: Store, path: str) -> None:
    answer = store.get(f"{path}?businessId={store.business_id}&locale=en")
    assert answer.status_code == 200
    assert f"frame-ancestors {store.platform.url}" in answer.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in answer.headers
    assert f'data-platform="{store.platform.url}"' in answer.text


@pytest.mark.parametrize("path", ["/", "/received.json", "/pay/none"])
def test_other_pages_are_framed_by_nobody(store: Store, path: str) -> None:
    assert "frame-ancestors 'none'" in store.get(path).headers["Content-Security-Policy"]


def test_scripts_of_the_frames_are_there(store: Store) -> None:
    names = ["recent-orders.js", "ring-us.js", "overview.js", "extension-platform.js"]
    for path in [*(f"/static/{name}" for name in names), "/embed/announcement.js"]:
        answer = store.get(path)
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, "text/javascript; charset=utf-8")


@pytest.mark.spec(
    "Contract 0 Conventions", "What an app shows on a storefront holds nothing of the customers"
)
def test_recent_orders_tell_nothing_of_customers(store: Store) -> None:
    order = {
        "orderNumber": "1042", "status": "PENDING", "amount": 24.5, "createdAt": "2026-11-20T15:04:05.123Z",
        "customer": {"name": "Kim Secret", "email": "kim@example.com"}, "address": "1 Secret Road",
        "items": [{"productId": "p", "name": "Rye bread", "quantity": 2, "price": 4.5}],
    }  # fmt: skip
    store.platform.orders = [order, order | {"status": "CANCELLED"}]
    answer = store.get(f"/block/recent-orders.json?businessId={store.business_id}")
    goods = [{"name": "Rye bread", "quantity": 2}]
    assert answer.json() == {"orders": [{"goods": goods, "orderedAt": "2026-11-20T15:04:05.123Z"}]}
    for _ in range(3):
        store.get(f"/block/recent-orders.json?businessId={store.business_id}")
    assert store.platform.calls.count("GET /app-api/orders") == 1
    assert store.get("/block/recent-orders.json?businessId=unknown").status_code == 404


def test_bell_is_rung_from_its_own_page_and_not_too_fast(store: Store) -> None:
    def ring(business_id: object, **headers: str) -> int:
        return store.post("/widget/rings", {"businessId": business_id}, **headers).status_code

    assert ring(store.business_id, Origin="") == 403
    assert ring(store.business_id, Origin="https://evil.example") == 403
    assert ring("unknown") == 404
    assert ring(["odd"]) == 404
    heard = [store.ring().json()["heard"] for _ in range(3)]
    assert heard == [True, False, False]


def test_manifest_is_served_with_the_apps_address(store: Store) -> None:
    manifest = store.get("/manifest.json").json()
    file = Path("examples/sample_app/manifest.json").read_text(encoding="utf-8")
    assert manifest == json.loads(file.replace("https://bell.example.com", store.app.url))
    assert "bell.example.com" not in json.dumps(manifest)
    for block in manifest["blocks"]:
        assert requests.get(block["renderUrl"], timeout=5).status_code == 200
    for embed in manifest["embeds"]:
        assert requests.get(embed.get("renderUrl") or embed["scriptUrl"], timeout=5).status_code == 200
    for page in manifest["adminPages"]:
        assert requests.get(page["renderUrl"], timeout=5).status_code == 200
    assert len({hook["hookPoint"] for hook in manifest["hooks"]}) == 5

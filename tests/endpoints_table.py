"""Every endpoint of the APIs: who may call it, and a call of it that succeeds.

The tests of endpoints read all that they know of one from here. `tests/wire/test_tables.py` holds the rows to the URL conf.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Final

from tests.pages_table import ANYONE, DEVELOPER, OWNER, PERSON, VIEWER

ANY_APP = "ANY_APP"  # without a scope
SHOP = "SHOP"  # a key of a connection
PARAMETER: Final = re.compile(r"<(\w+)>")

ORDER: Final[dict[str, Any]] = {
    "items": [{"productId": "{product_id}", "quantity": 1}],
    "customer": {"name": "Kim", "email": "kim@example.com", "phone": "+1 555 0100"},
    "deliveryMethod": "DELIVERY",
    "address": "Quay 1",
    "paymentMethod": "CASH",
    "promoDiscount": 0.5,
    "note": "Ring twice",
}
WEBHOOK: Final[dict[str, Any]] = {
    "url": "https://127.0.0.1:9/hook",  # nothing listens there
    "events": ["order.created"],
    "filter": {"all": [{"field": "amount", "op": "gte", "value": 100}]},
    "description": "Mine",
}
PERSON_AND_STORE: Final[dict[str, Any]] = {
    "email": "nora@example.com",
    "password": "a long walk home",
    "name": "Nora",
    "role": "MERCHANT",
    "businessName": "Harbour Bakery",
    "businessType": "Bakery",
    "address": "Quay 1",
    "currency": "EUR",
}
APP: Final[dict[str, Any]] = {
    "name": "An app",
    "slug": "an-app",
    "description": "Does one thing well.",
    "category": "other",
    "scopes": ["read_products"],
    "redirectUrl": "https://app.example.com/callback",
    "webhookUrl": "http://127.0.0.1:9/hooks",
    "webhookEvents": ["product.created"],
    "webhookFilter": {"any": [{"field": "price", "op": "in", "value": [1, 2]}]},
    "version": "1.0.0",
}
STORE: Final[dict[str, Any]] = {
    "name": "Northwind",
    "currency": "USD",
    "locale": "de",
    "storefrontUrl": "https://nw.example/",
    "storefrontOrigins": ["https://m.nw.example"],
}
# As a shop sends them: `tests/storeapi` has more of each.
ROWS: Final[dict[str, dict[str, Any]]] = {
    "products": {"name": "Rye bread", "price": 4.5},
    "orders": {
        "orderNumber": "1001",
        "status": "PENDING",
        "items": [{"productId": "p-1", "name": "Rye bread", "quantity": 2, "price": 4.5}],
        "subtotal": 9,
        "amount": 9,
        "createdAt": "2026-11-20T15:04:05Z",
    },
    "reviews": {"productId": "p-1", "rating": 5},
    "pages": {"slug": "about", "title": "About us", "url": "https://shop.example/about"},
}
TICKET: Final[dict[str, Any]] = {
    "person": {"id": "p-1", "name": "Kim Lee", "email": "kim@shop.example"},
    "role": "OWNER",
    "next": "/merchant/apps/",
}
ASKED: Final[dict[str, Any]] = {
    "data": {
        "items": [{"productId": "p-1", "quantity": 2}],
        "subtotal": 900,
        "deliveryMethod": "DELIVERY",
    },
    "budgetMs": 2000,
    "quote": "0b32d1c7-a407-4cc3-9d6f-0d2f4c1f8a30",
}
ROW: Final = {"resource": "products", "id": "p-1", "version": 7, "data": ROWS["products"]}
_URL = "https://app.example.com/"
MANIFEST: Final[dict[str, Any]] = {
    "settingsSchema": {"type": "object", "properties": {"color": {"type": "string"}}},
    "blocks": [{"blockType": "b", "name": "Block", "renderUrl": f"{_URL}b", "defaultConfig": {}}],
    "embeds": [
        {
            "embedType": "e",
            "name": "Embed",
            "kind": "GLOBAL_SCRIPT",
            "position": "head",
            "scriptUrl": f"{_URL}e.js",
        }
    ],
    "hooks": [{"hookPoint": "order.validate", "url": "validate", "timeout": 500, "priority": 10}],
    "adminPages": [{"pageId": "p", "title": "Page", "renderUrl": f"{_URL}p"}],
}


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A method and its path. `who` is a scope that an access token needs, or the least role on the app."""

    name: str  # `PATCH app-api/orders/<order_id>/status`
    who: str
    status: int = 200  # of a call that succeeds; tested where a token opens it
    needs: str = ""  # a scope that depends on what is asked for
    body: dict[str, Any] = field(default_factory=dict)  # one that is read; `{product_id}` stands for an id
    takes_key: bool = True  # an Idempotency-Key, if it is unsafe and below another root than `auth`

    def __str__(self) -> str:
        return self.name

    @property
    def method(self) -> str:
        return self.name.partition(" ")[0]

    @property
    def route(self) -> str:
        return self.name.partition(" ")[2]

    @property
    def root(self) -> str:
        return self.route.partition("/")[0]

    @property
    def scope(self) -> str:
        return self.who if self.root in OF_TOKENS and self.who != ANY_APP else ""

    @property
    def parameters(self) -> list[str]:
        return PARAMETER.findall(self.route)

    def path(self, values: dict[str, str]) -> str:
        """The address with these parameters; one that is not given is an id of nothing."""
        return "/" + PARAMETER.sub(lambda found: values.get(found[1], "nothing"), self.route)


ROOTS: Final = ("app-api", "webhooks", "developer", "store-api", "auth")
OF_TOKENS: Final = ROOTS[:2]
OF_KEYS: Final = "store-api"
ENDPOINTS: Final = [
    Endpoint("GET app-api/products", "read_products"),
    Endpoint("GET app-api/products/slug/<slug>", "read_products"),
    Endpoint("GET app-api/products/<product_id>", "read_products"),
    Endpoint("GET app-api/orders", "read_orders"),
    Endpoint("POST app-api/orders", "write_orders", status=201, body=ORDER),
    Endpoint("GET app-api/orders/<order_id>", "read_orders"),
    Endpoint("PATCH app-api/orders/<order_id>/status", "write_orders", body={"status": "CONFIRMED"}),
    Endpoint(
        "PATCH app-api/orders/<order_id>/attributes", "write_orders", body={"attributes": {"slot": "Friday"}}
    ),
    Endpoint(
        "PATCH app-api/orders/<order_id>/payment",
        "write_orders",
        body={"status": "COMPLETED", "reference": "r-1"},
    ),
    Endpoint("GET app-api/payment-methods", "write_orders"),
    Endpoint("GET app-api/reviews", "read_reviews"),
    Endpoint("GET app-api/reviews/stats", "read_reviews"),
    Endpoint("GET app-api/analytics/dashboard", "read_analytics"),
    Endpoint("GET app-api/business", "read_business"),
    Endpoint("GET app-api/pages", "read_pages"),
    Endpoint("GET app-api/pages/<slug>", "read_pages"),
    Endpoint("GET app-api/events", ANY_APP),
    Endpoint(
        "POST app-api/exports", ANY_APP, status=202, needs="read_products", body={"resource": "products"}
    ),
    Endpoint("GET app-api/exports/<export_id>", ANY_APP, needs="read_products"),
    Endpoint("GET app-api/exports/<export_id>/file", ANY_APP, needs="read_products"),
    Endpoint("GET app-api/installation", ANY_APP),
    Endpoint("GET webhooks", ANY_APP),
    Endpoint("POST webhooks", ANY_APP, status=201, body=WEBHOOK),
    Endpoint("GET webhooks/<webhook_id>", ANY_APP),
    Endpoint("PATCH webhooks/<webhook_id>", ANY_APP, body=WEBHOOK | {"isActive": True}),
    Endpoint("DELETE webhooks/<webhook_id>", ANY_APP, status=204),
    Endpoint("GET webhooks/<webhook_id>/deliveries", ANY_APP),
    Endpoint("GET webhooks/<webhook_id>/deliveries/<delivery_id>", ANY_APP),
    Endpoint("POST webhooks/<webhook_id>/deliveries/<delivery_id>/redeliver", ANY_APP, status=202),
    Endpoint(
        "POST webhooks/<webhook_id>/recover",
        ANY_APP,
        status=202,
        body={"since": "2026-11-20T00:00:00Z", "until": "2026-11-20T01:00:00Z"},
    ),
    Endpoint("POST webhooks/<webhook_id>/test", ANY_APP),
    Endpoint("GET store-api/stores", SHOP),
    Endpoint("GET store-api/stores/<store>", SHOP),
    Endpoint("PUT store-api/stores/<store>", SHOP, body=STORE),
    Endpoint("DELETE store-api/stores/<store>", SHOP, status=202),
    Endpoint("GET store-api/stores/<store>/wanted", SHOP),
    Endpoint("GET store-api/stores/<store>/placements", SHOP),
    *(
        Endpoint(f"{method} store-api/stores/<store>/{resource}/<id>", SHOP, body=body)
        for resource, row in ROWS.items()
        for method, body in (("GET", {}), ("PUT", row | {"version": 7}), ("DELETE", {}))
        if (resource, method) != ("orders", "DELETE")
    ),
    Endpoint("POST store-api/stores/<store>/rows", SHOP, body={"rows": [ROW]}),
    Endpoint(
        "POST store-api/stores/<store>/customers/erase", SHOP, status=202, body={"email": "kim@example.com"}
    ),
    Endpoint("GET store-api/stores/<store>/erasures/<erasure_id>", SHOP),
    Endpoint("POST store-api/stores/<store>/tickets", SHOP, status=201, body=TICKET, takes_key=False),
    Endpoint("DELETE store-api/stores/<store>/people/<person>", SHOP, status=204),
    Endpoint("POST store-api/stores/<store>/hooks/<point>", SHOP, body=ASKED),
    Endpoint("GET store-api/stores/<store>/payments/<order_id>", SHOP),
    Endpoint("POST store-api/stores/<store>/advance", SHOP, body={"seconds": 60}),
    Endpoint(
        "POST store-api/stores/<store>/snapshot", SHOP, body={"resource": "products", "rows": [["p-1", 7]]}
    ),
    Endpoint("POST auth/register", ANYONE, body=PERSON_AND_STORE),
    Endpoint("POST auth/login", ANYONE, body={"email": "dana@example.com", "password": "wrong"}),
    Endpoint("POST auth/refresh", ANYONE, body={"refreshToken": "nothing"}),
    Endpoint("POST auth/logout", ANYONE, body={"refreshToken": "nothing"}),
    Endpoint("POST developer/device", ANYONE, body={"client_name": "Order tool"}, takes_key=False),
    Endpoint(
        "POST developer/device/token",
        ANYONE,
        body={"grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "nothing"},
        takes_key=False,
    ),
    Endpoint("GET developer/apps", PERSON),
    Endpoint("POST developer/apps", PERSON, body=APP),
    Endpoint("GET developer/apps/<app_id>", VIEWER),
    Endpoint(
        "PATCH developer/apps/<app_id>",
        DEVELOPER,
        body=APP | {"iconUrl": None, "screenshots": ["/pictures/nothing"]},
    ),
    Endpoint("DELETE developer/apps/<app_id>", OWNER),
    Endpoint("GET developer/apps/<app_id>/members", VIEWER),
    Endpoint("POST developer/apps/<app_id>/members", OWNER),
    Endpoint("PATCH developer/apps/<app_id>/members/<member_id>", OWNER),
    Endpoint("DELETE developer/apps/<app_id>/members/<member_id>", OWNER),
    Endpoint("GET developer/apps/<app_id>/transfer", VIEWER),
    Endpoint("POST developer/apps/<app_id>/transfer", OWNER),
    Endpoint("DELETE developer/apps/<app_id>/transfer", OWNER),
    Endpoint("POST developer/apps/<app_id>/client-secret", DEVELOPER),
    Endpoint("POST developer/apps/<app_id>/manifest/check", VIEWER),
    Endpoint("GET developer/apps/<app_id>/manifest", VIEWER),
    Endpoint("PUT developer/apps/<app_id>/manifest", DEVELOPER, body=MANIFEST),
    Endpoint(
        "POST developer/apps/<app_id>/submit",
        DEVELOPER,
        body={"howToTest": "Use SAVE10.", "scopeReason": "To count.", "release": "STEPS"},
    ),
    Endpoint("GET developer/apps/<app_id>/readiness", VIEWER),
    Endpoint("GET developer/apps/<app_id>/submissions", VIEWER),
    Endpoint("GET developer/apps/<app_id>/versions", VIEWER),
    Endpoint("POST developer/apps/<app_id>/versions/<number>/restore", DEVELOPER),
    Endpoint("GET developer/apps/<app_id>/release", VIEWER),
    Endpoint("POST developer/apps/<app_id>/release/advance", DEVELOPER),
    Endpoint("POST developer/apps/<app_id>/release/halt", DEVELOPER),
    Endpoint("POST developer/apps/<app_id>/release/resume", DEVELOPER),
    Endpoint("POST developer/apps/<app_id>/release/back", DEVELOPER),
    Endpoint("POST developer/apps/<app_id>/withdraw", DEVELOPER),
    Endpoint("POST developer/apps/<app_id>/test-install", DEVELOPER),
    Endpoint("GET developer/apps/<app_id>/test-status", VIEWER),
    Endpoint("POST developer/apps/<app_id>/test-uninstall", DEVELOPER),
    Endpoint("GET developer/test-changes", PERSON),
    Endpoint("POST developer/apps/<app_id>/test-changes", DEVELOPER),
    Endpoint("GET developer/apps/<app_id>/test-stores", VIEWER),
    Endpoint("POST developer/apps/<app_id>/test-stores", DEVELOPER),
    Endpoint("DELETE developer/test-stores/<store_id>", PERSON),
    Endpoint("POST developer/test-stores/<store_id>/advance", PERSON),
    Endpoint("POST developer/test-stores/<store_id>/changes", PERSON),
    Endpoint("POST developer/test-stores/<store_id>/install", PERSON),
    Endpoint("POST developer/test-stores/<store_id>/uninstall", PERSON),
    Endpoint("GET developer/test-stores/<store_id>/deliveries", PERSON),
    Endpoint("GET developer/test-stores/<store_id>/calls", PERSON),
    Endpoint("GET developer/apps/<app_id>/activity", VIEWER),
    Endpoint("POST developer/apps/<app_id>/test-events", DEVELOPER, body={"event": "order.created"}),
    Endpoint("POST developer/apps/<app_id>/listener", DEVELOPER),
    Endpoint("DELETE developer/apps/<app_id>/listener/<listener_id>", DEVELOPER),
    Endpoint("POST developer/apps/<app_id>/listener/<listener_id>/work", DEVELOPER, takes_key=False),
    Endpoint("POST developer/apps/<app_id>/listener/<listener_id>/answers", DEVELOPER, takes_key=False),
    Endpoint("POST developer/apps/<app_id>/checks", DEVELOPER),
    Endpoint("GET developer/apps/<app_id>/checks/<check_id>", VIEWER),
    Endpoint("POST developer/apps/<app_id>/checks/<check_id>/responses", DEVELOPER),
    Endpoint("GET developer/apps/<app_id>/analytics", VIEWER),
    Endpoint("GET developer/apps/<app_id>/deliveries", VIEWER),
    Endpoint("GET developer/apps/<app_id>/deliveries/<delivery_id>", VIEWER),
    Endpoint("POST developer/apps/<app_id>/deliveries/<delivery_id>/redeliver", DEVELOPER),
]
WITH_BODY: Final = [each for each in ENDPOINTS if each.method in ("POST", "PUT", "PATCH")]
LISTS: Final = [each for each in ENDPOINTS if each.method == "GET"]
OF_APPS: Final = [each for each in ENDPOINTS if each.root in OF_TOKENS]
OF_SHOPS: Final = [each for each in ENDPOINTS if each.root == OF_KEYS]
KEYED: Final = [
    each for each in ENDPOINTS if each.takes_key and each.method != "GET" and each.root != ROOTS[-1]
]

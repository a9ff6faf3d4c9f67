"""An app with the SDK for Python of a release: it is installed, makes each of the SDK's calls once, and answers what it is sent.

Its whole environment is in one JSON object on standard input; then comes the address to which the consent page sent the browser. It
prints the address of the consent page, `feed` when it wants the feed to show what happened, and at the end `done`. Whatever isn't as the
release says ends it with an error.
"""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

import extension_platform_sdk as sdk

given = json.loads(sys.stdin.readline())
assert sdk.__version__ == given["version"], sdk.__version__
router, got, secrets = sdk.WebhookRouter(), [], {}


@router.on("webhook.test")
def keep(event: sdk.WebhookEvent) -> None:
    got.append(event)


class Server(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        response = router.handle(self.headers, body, secrets.get)
        self.send_response(response.status)
        self.end_headers()
        self.wfile.write(response.body)

    def log_message(self, *_: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}/webhooks"


def fails(call: Callable[[], object], status: int) -> None:
    """The call has to be answered with this status."""
    found = 0
    try:
        call()
    except sdk.ApiError as error:
        found = error.status_code
    assert found == status, found


# Installing

oauth = sdk.OAuthClient(
    given["url"], given["clientId"], given["clientSecret"], redirect_uri=given["redirectUrl"]
)
begun = oauth.begin()
print(begun.url, flush=True)
callback = dict(parse_qsl(urlsplit(sys.stdin.readline().strip()).query))
code = sdk.read_callback(callback, state=begun.state)
installed = oauth.exchange(code, code_verifier=begun.code_verifier)
refused = ""
try:
    oauth.exchange("of-nobody", code_verifier=begun.code_verifier)
except sdk.OAuthError as error:
    refused = error.error
assert refused == "invalid_grant", refused

# Calling

client = sdk.AppClient(given["url"], installed.access_token)
assert client.installation()["installationId"] == installed.installation_id
assert client.business()["id"] == installed.business_id

(product,) = client.products(is_available=True, search="espresso").data
assert [each["id"] for each in client.iter_products()] == [product["id"]]
assert client.product(product["id"])["price"] == client.product_by_slug(product["slug"])["price"] == 12.5

order = client.create_order(
    items=[{"productId": product["id"], "quantity": 2}],
    customer={"name": "Kim", "email": "kim@example.com"},
    note="Ring twice.",
    idempotency_key="first",
)
again = client.create_order(
    items=[{"productId": product["id"], "quantity": 2}],
    customer={"name": "Kim", "email": "kim@example.com"},
    note="Ring twice.",
    idempotency_key="first",
)
assert again["id"] == order["id"], "a repeated key places one order"
assert (order["status"], order["amount"], order["customer"]["name"]) == ("PENDING", 25, "Kim")
assert client.orders(status="PENDING").total == 1
assert [each["id"] for each in client.iter_orders()] == [order["id"]]
assert client.set_order_status(order["id"], "CONFIRMED")["status"] == "CONFIRMED"
assert client.order(order["id"])["note"] == "Ring twice."
assert [each["id"] for each in client.payment_methods()][:2] == ["CASH", "CARD"]
fails(lambda: client.settle_payment(order["id"], "COMPLETED", reference="r-1"), 403)  # cash is the merchant's

assert client.reviews(product_id=product["id"]).data[0]["comment"] == "Just right."
assert len(list(client.iter_reviews())) == client.review_stats()["total"] == 1
assert client.dashboard(days=7)["totalOrders"] == 1
assert client.pages().data[0]["slug"] == "about"
assert "We roast" in client.page_by_slug("about")["content"]

print("feed", flush=True)  # which shows events a moment after they were written
sys.stdin.readline()
feed = client.events(limit=1)
assert [each["event"] for each in feed["data"]] == ["order.created"]
rest = client.reconcile(feed["nextCursor"], only=["order.status_changed"])
assert [each["data"]["status"] for each in rest] == ["CONFIRMED"]
requested = client.create_export("orders")
assert client.export(requested["id"])["status"] in ("PENDING", "RUNNING", "READY")

# Webhooks

made = client.create_webhook(address, ["order.created"], "Mine")
secrets[made["id"]] = made["secret"]
assert [each["id"] for each in client.webhooks().data] == [made["id"]]
assert client.webhook(made["id"])["description"] == "Mine"
assert (
    client.update_webhook(made["id"], description="Ours", events=["order.cancelled"])["description"] == "Ours"
)
tried = client.test_webhook(made["id"])
assert (tried["success"], tried["httpStatus"]) == (True, 200), tried
assert [event.event for event in got] == ["webhook.test"]
client.set_order_status(order["id"], "CANCELLED")
(delivery,) = client.deliveries(made["id"], status="PENDING").data
assert client.delivery(made["id"], delivery["id"])["attempts"] == []
assert client.redeliver(made["id"], delivery["id"])["id"] == delivery["id"]
assert client.recover(made["id"], since=datetime.now(UTC) - timedelta(hours=1)) == 0
client.delete_webhook(made["id"])

# Errors, and the end

fails(lambda: client.product("nothing"), 404)
fails(lambda: client.orders(page=0), 400)
oauth.revoke(installed.access_token)
fails(client.installation, 401)
print("done", flush=True)

"""Drives the shop for a check of its connection: by Vendure's GraphQL APIs, as its shoppers and administrators do.

The environment has what `shop.js` reads: SHOP_URL, SHOP_DATABASE_URL, SHOP_PASSWORD, and NODE_PATH where Vendure is installed.
"""

import atexit
import os
import subprocess
import time
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import requests

HERE = Path(__file__).resolve().parent
LOG = Path(os.environ.get("SHOP_LOG", os.devnull))
START_WITHIN = 120.0  # seconds
PATHS = [
    [("PaymentSettled", "CONFIRMED"), ("Shipped", "IN_DELIVERY"), ("Delivered", "DELIVERED")],
    [("PaymentSettled", "CONFIRMED"), ("Cancelled", "CANCELLED")],
]
ERROR = "... on ErrorResult { errorCode message }"
ORDER = "... on Order { code totalWithTax } " + ERROR
processes: dict[str, subprocess.Popen[bytes]] = {}


def connect(platform: str, key: str, secret: str) -> dict[str, Any]:
    os.environ.update(PLATFORM_URL=platform, PLATFORM_KEY=key, PLATFORM_SECRET=secret)
    start("serve")
    start("work")
    until = time.monotonic() + START_WITHIN
    while not answers():
        if time.monotonic() > until:
            raise TimeoutError(f"The shop doesn't answer. Its log is {LOG}.")
        time.sleep(0.1)
    return {"commands": shop_url("/platform/commands"), "page": shop_url("/shop"), "paths": PATHS}


def save_product(product: str | None, *, name: str, price: Decimal, stock: int) -> str:
    words = [{"languageCode": "en", "name": name}]
    given = {"price": minor(price), "stockOnHand": stock, "translations": words}
    admin = Api("admin-api", staff())
    if product and admin.ask("query ($id: ID!) { productVariant(id: $id) { id } }", id=product):
        changed = (
            "mutation ($input: [UpdateProductVariantInput!]!) { updateProductVariants(input: $input) { id } }"
        )
        admin.ask(changed, input=[given | {"id": product}])
        return product
    of_product = [words[0] | {"slug": f"product-{time.time_ns()}", "description": ""}]
    made = "mutation ($input: CreateProductInput!) { createProduct(input: $input) { id } }"
    new = admin.ask(made, input={"translations": of_product})["id"]
    made = "mutation ($input: [CreateProductVariantInput!]!) { createProductVariants(input: $input) { id } }"
    more = {"productId": new, "sku": f"sku-{new}", "trackInventory": "TRUE"}
    return str(admin.ask(made, input=[given | more])[0]["id"])


def delete_product(product: str) -> None:
    gone = "mutation ($id: ID!) { deleteProductVariant(id: $id) { result } }"
    Api("admin-api", staff()).ask(gone, id=product)


def checkout(items: Sequence[tuple[str, int]], person: Any, *, confirm: bool) -> dict[str, Any]:
    shop = Api("shop-api")
    first, _, last = person.name.partition(" ")
    customer = {
        "firstName": first,
        "lastName": last or "-",
        "emailAddress": person.email,
        "phoneNumber": person.phone,
    }
    address = {"fullName": person.name, "streetLine1": "Quay 1", "city": "Portland", "postalCode": "97201",
               "countryCode": "US", "phoneNumber": person.phone}  # fmt: skip
    for product, pieces in items:
        shop.change(
            f"addItemToOrder(productVariantId: $id, quantity: $pieces) {{ {ORDER} }}",
            "$id: ID!, $pieces: Int!",
            id=product,
            pieces=pieces,
        )
    shop.change(f"setCustomerForOrder(input: $it) {{ {ORDER} }}", "$it: CreateCustomerInput!", it=customer)
    shop.change(f"setOrderShippingAddress(input: $it) {{ {ORDER} }}", "$it: CreateAddressInput!", it=address)
    method = shop.ask("query { eligibleShippingMethods { id } }")[0]["id"]
    shop.change(f"setOrderShippingMethod(shippingMethodId: $id) {{ {ORDER} }}", "$id: [ID!]!", id=[method])
    seen = shop.ask("query { activeOrder { code totalWithTax } }")
    bill = {"total": Decimal(seen["totalWithTax"]) / 100, "order": None, "message": ""}
    if confirm and not (refusal := confirmed(shop)):
        bill["order"] = seen["code"]
    elif confirm:
        bill["message"] = refusal
    return bill | {"seconds": shop.slowest}


def confirmed(shop: "Api") -> str:
    """Place the order; what the shopper reads if that fails."""
    error = "... on OrderStateTransitionError { transitionError }"
    begun = shop.change(f'transitionOrderToState(state: "ArrangingPayment") {{ {ORDER} {error} }}')
    if "code" not in begun:
        return str(begun.get("transitionError") or begun["message"])
    payment = '{method: "invoice", metadata: {}}'
    paid = shop.change(f"addPaymentToOrder(input: {payment}) {{ {ORDER} }}")
    return "" if "code" in paid else str(paid["message"])


def move_order(order: str, state: str) -> None:
    admin = Api("admin-api", staff())
    fields = "id state payments { id state } lines { id quantity } fulfillments { id }"
    found = "query ($code: String!) { orders(options: {filter: {code: {eq: $code}}}) { items { %s } } }"
    about = admin.ask(found % fields, code=order)["items"][0]
    if state == "PaymentSettled":
        for payment in about["payments"]:
            admin.change(
                f"settlePayment(id: $id) {{ ... on Payment {{ id }} {ERROR} }}", "$id: ID!", id=payment["id"]
            )
    elif state == "Cancelled":
        admin.change(f"cancelOrder(input: $it) {{ ... on Order {{ id }} {ERROR} }}", "$it: CancelOrderInput!",
                     it={"orderId": about["id"], "cancelShipping": True})  # fmt: skip
    else:
        if state == "Shipped":
            lines = [{"orderLineId": line["id"], "quantity": line["quantity"]} for line in about["lines"]]
            handler = {"code": "manual-fulfillment", "arguments": [{"name": "method", "value": "Van"}]}
            about["fulfillments"] = [
                admin.change(f"addFulfillmentToOrder(input: $it) {{ ... on Fulfillment {{ id }} {ERROR} }}",
                             "$it: FulfillOrderInput!", it={"lines": lines, "handler": handler})
            ]  # fmt: skip
        for fulfilled in about["fulfillments"]:
            admin.change(f"transitionFulfillmentToState(id: $id, state: $to) {{ ... on Fulfillment {{ id }} {ERROR} }}",
                         "$id: ID!, $to: String!", id=fulfilled["id"], to=state)  # fmt: skip


def erase(person: Any) -> None:
    subprocess.run(["node", "shop.js", "erase", person.email], cwd=HERE, check=True)


def dump() -> str:
    command = ["pg_dump", "--inserts", os.environ["SHOP_DATABASE_URL"]]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def open_apps(next_page: str | None, *, signed_in: bool) -> str | None:
    query = {"next": next_page} if next_page else {}
    answer = requests.get(
        shop_url("/platform/apps"),
        params=query,
        headers=staff() if signed_in else {},
        allow_redirects=False,
        timeout=30,
    )
    return answer.headers.get("Location")


def restart_sender(*, compare: bool) -> None:
    start("work", *(["--compare"] if compare else []))


class Api:
    """One of Vendure's two APIs, in a session of its own. `slowest` has the seconds of its slowest answer."""

    def __init__(self, path: str, headers: dict[str, str] | None = None) -> None:
        self._url, self._session, self.slowest = shop_url(f"/{path}"), requests.Session(), 0.0
        self._session.headers.update(headers or {})

    def ask(self, query: str, **variables: Any) -> Any:
        began = time.monotonic()
        response = self._session.post(self._url, json={"query": query, "variables": variables}, timeout=60)
        self.slowest = max(self.slowest, time.monotonic() - began)
        if token := response.headers.get("vendure-auth-token"):
            self._session.headers["Authorization"] = f"Bearer {token}"
        answer = response.json()
        if answer.get("errors"):
            raise RuntimeError(f"{query}: {answer['errors']}")
        return next(iter(answer["data"].values()))

    def change(self, mutation: str, declared: str = "", **variables: Any) -> dict[str, Any]:
        """A mutation; Vendure's refusals are results, with their `message`."""
        declared = f"({declared})" if declared else ""
        made: dict[str, Any] = self.ask(f"mutation {declared} {{ {mutation} }}", **variables)
        return made


def staff() -> dict[str, str]:
    """The headers of the owner, after a new sign-in."""
    signing_in = 'mutation ($password: String!) { login(username: "owner@harbor.example", password: $password) { __typename } }'
    answer = requests.post(
        shop_url("/admin-api"),
        json={"query": signing_in, "variables": {"password": os.environ["SHOP_PASSWORD"]}},
        timeout=60,
    )
    return {"Authorization": f"Bearer {answer.headers['vendure-auth-token']}"}


def start(name: str, *arguments: str) -> None:
    stop(name)
    with LOG.open("ab") as log:
        processes[name] = subprocess.Popen(
            ["node", "shop.js", name, *arguments], cwd=HERE, stdout=log, stderr=log
        )


def stop(name: str) -> None:
    if process := processes.pop(name, None):
        process.kill()
        process.wait()


@atexit.register
def stop_all() -> None:
    for name in list(processes):
        stop(name)


def answers() -> bool:
    try:
        return requests.get(shop_url("/health"), timeout=2).ok
    except requests.RequestException:
        return False


def shop_url(path: str) -> str:
    return os.environ["SHOP_URL"] + path


def minor(amount: Decimal) -> int:
    return int(amount * 100)

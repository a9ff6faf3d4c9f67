"""The samples of every endpoint, run unchanged: only address, credentials and ids are put in."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from accounts.models import ConnectedStore
from accounts.services import shops
from appapi import middleware
from developers.docs import reference
from developers.docs.openapi import document as openapi
from developers.docs.openapi.samples import CLIENT_ID, CLIENT_SECRET, PARAMETER, TOKENS, example_in
from developers.docs.reference import ApiOperation
from installations import services
from marketplace.enums import ReleaseState
from marketplace.models import App
from stores.connected.bodies import values_of
from stores.connected.mirror import erase_customer, mention
from stores.connected.rows import PushedRow, take
from stores.connected.stores import open_store
from stores.connected.wanted import WantedRows
from stores.customers import Person
from stores.enums import Resource
from stores.models import ShopPayment
from tests import factories
from tests.contract import cast as casts
from tests.contract.cast import Cast
from tests.endpoints_table import ROWS
from tests.installations.oauth_client import VERIFIER
from tests.receivers import Receiver
from webhooks.engine import listeners

SHOPS = "API for connected shops"
SERVICE = "http://testserver"  # BASE_URL of the tests


def run_curl(text: str) -> subprocess.CompletedProcess[str]:
    """With curl's own word on whether the answer was an error."""
    return _run(["sh", "-e"], text.replace("curl ", "curl --silent --show-error --fail-with-body ", 1))


def run_python(text: str) -> subprocess.CompletedProcess[str]:
    return _run([sys.executable, "-"], text)


def run_javascript(text: str) -> subprocess.CompletedProcess[str]:
    return _run(["node", "--input-type=module", "-"], text)


def _run(command: list[str], text: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    with tempfile.TemporaryDirectory() as folder:  # a sample may save a file
        return subprocess.run(
            command, input=text, capture_output=True, text=True, timeout=60, env=environment, cwd=folder
        )


LANGUAGES: dict[str, Callable[[str], subprocess.CompletedProcess[str]]] = {
    "curl": run_curl,
    "Python": run_python,
    "JavaScript": run_javascript,
}
PROGRAM = {"curl": "curl", "Python": sys.executable, "JavaScript": "node"}


@pytest.fixture
def cast(live_server: Any, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cast]:
    # Every endpoint once in a few seconds is more than an installation may ask for.
    monkeypatch.setattr(middleware, "REQUESTS_A_MINUTE", 10_000)
    settings.AUTH_RATE_LIMITS = False
    with Receiver() as receiver:
        yield casts.make(receiver_url=receiver.url, spare=1)


def order_of_running(endpoint: ApiOperation) -> int:
    """What ends the installation or takes its place comes last."""
    last = ["rotateClientSecret", "exchangeCode", "revokeToken"]
    return last.index(endpoint.id) + 1 if endpoint.id in last else 0


def ids_for(endpoint: ApiOperation, cast: Cast) -> dict[str, str]:
    """Real ids for the parameters of a path."""
    own = endpoint.part == "Developer API"
    found = {
        "productId": cast.product,
        "slug": cast.page_slug if "/pages/" in endpoint.path else cast.product_slug,
        "orderId": {"settlePayment": cast.paid_order, "getPayment": "p-1"}.get(endpoint.id, cast.order),
        "webhookId": cast.webhook,
        "exportId": cast.export,
        "deliveryId": cast.delivery,
        "appId": cast.app
        if any(part in endpoint.path for part in ("deliver", "listen", "checkId"))
        else cast.tested_app,
        "checkId": cast.check,
        "number": "1",
        "store": "main",
        "id": "p-1",
        "point": "order.validate",
        "person": "kim",
    }
    if "{listenerId}" in endpoint.path:
        app = App.objects.get(pk=cast.app)
        found["listenerId"] = str(listeners.attach(app=app, person=app.developer))
    if endpoint.id == "restoreVersion":
        found["appId"] = casts.app_with_two_versions(cast)
    if endpoint.path.partition("{appId}")[2].startswith("/release"):
        is_halted = endpoint.id == "resumeRelease"
        state = ReleaseState.HALTED if is_halted else ReleaseState.ROLLING
        found["appId"] = casts.app_in_release(cast, state)
    if "{memberId}" in endpoint.path:
        found["memberId"] = casts.member_of(cast)
    if "{businessId}" in endpoint.path:
        store = ConnectedStore.objects.get(system__name=f"Shop for {endpoint.id}")
        found["businessId"] = str(store.pk)
    if "{storeId}" in endpoint.path:
        found["storeId"] = casts.store_for_tests(cast.tested_app)
    if "{erasureId}" in endpoint.path:
        store = ConnectedStore.objects.get(system__name=f"Shop for {endpoint.id}")
        person = Person.of(email="kim@example.com", phone="", store=store.business)
        found["erasureId"] = str(erase_customer(store=store, person=person).pk)
    spare = {"deleteWebhook": ("webhookId", cast.spare_webhooks), "deleteApp": ("appId", cast.spare_apps)}
    if endpoint.id in spare:
        name, pool = spare[endpoint.id]
        found[name] = pool[0]
    assert own or "appId" not in PARAMETER.findall(endpoint.path)
    return found


def key_of_shop(endpoint: ApiOperation) -> str:
    """Of a connection of its own for tests, whose store `main` may be changed and ended, and its clock moved. It has the row, or the
    payment, to get.
    """
    made = shops.connect(name=f"Shop for {endpoint.id}", is_test=True)
    values = {"name": endpoint.id, "currency": "USD", "storefront_url": "https://shop.example/"}
    store = open_store(system=made.system, external_id="main", values=values)
    if endpoint.method == "GET" and endpoint.path.endswith("/{id}"):
        resource = Resource(endpoint.path.split("/")[-2])
        row = values_of(resource, ROWS[resource], "USD")
        row.pop("quote", None)
        pushed = PushedRow(resource=resource, external_id="p-1", version=1, values=row)
        take(store=store, rows=[pushed], wanted=WantedRows(orders=True, reviews=True, orders_since=None))
    if endpoint.id == "getPayment":
        order_id = mention(store, Resource.ORDERS, ["p-1"])["p-1"]
        ShopPayment.objects.create(
            business=store.business, order_id=order_id, order_external_id="p-1", amount=900, currency="USD"
        )
    return made.key


def bodies_for(endpoint: ApiOperation, cast: Cast) -> dict[str, str]:
    """What in a body names something that has to exist, or must not yet: example and real value."""
    body = endpoint.operation.get("requestBody", {"content": {}})
    example = next((example_in(media) for media in body["content"].values()), {})
    if endpoint.id == "createOrder":
        return {example["items"][0]["productId"]: cast.product}
    if endpoint.id == "register":
        return {example["email"]: "somebody-new@example.com"}
    if endpoint.id == "login":
        return {example["email"]: cast.email, example["password"]: cast.password}
    if endpoint.id == "listen":
        return {example["testStoreId"]: casts.store_for_tests(cast.app)}
    if endpoint.id == "offerTransfer":
        return {example["email"]: casts.member_who_may_own(cast)}
    if endpoint.id == "createWebhook":
        return {example["url"]: "https://93.184.216.34/events"}
    if endpoint.id == "createApp":
        return {example["webhookUrl"]: "https://93.184.216.34/events"}
    if endpoint.id == "exchangeCode":
        return {
            example["code"]: casts.code_for(cast),
            example["redirect_uri"]: cast.redirect_uri,
            example["code_verifier"]: VERIFIER,
        }
    if endpoint.id == "revokeToken":
        return {example["token"]: cast.access_token}
    if endpoint.id == "redeemDeviceCode":
        return {example["device_code"]: casts.device_code(cast)}
    if endpoint.id in ("refresh", "logout"):
        return {example["refreshToken"]: casts.refresh_token(cast)}
    return {}


def filled_in(text: str, endpoint: ApiOperation, cast: Cast, url: str) -> str:
    """The sample with a reader's own address, credentials and ids."""
    key = key_of_shop(endpoint) if endpoint.part == SHOPS else ""
    ids = ids_for(endpoint, cast)
    parameters = endpoint.operation["parameters"]
    given = {each["name"]: each["schema"]["examples"][0] for each in parameters if each["in"] == "path"}
    example = PARAMETER.sub(lambda found: str(given[found[1]]), endpoint.path)
    real = PARAMETER.sub(lambda found: ids[found[1]], endpoint.path)
    assert SERVICE + example in text
    text = text.replace(SERVICE + example, url + real)
    credentials = {
        TOKENS[openapi.ACCESS_TOKEN]: cast.access_token,
        TOKENS[openapi.DEVELOPER_TOKEN]: cast.developer_token,
        CLIENT_ID: cast.client_id,
        CLIENT_SECRET: cast.client_secret,
    }
    if endpoint.part == SHOPS:
        credentials[TOKENS[openapi.SHOP_KEY]] = key
    for placeholder, value in (credentials | bodies_for(endpoint, cast)).items():
        text = text.replace(placeholder, value)
    assert "YOUR_" not in text
    return text


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec("Contract 7 Pages", "The samples of every endpoint work as they are copied")
@pytest.mark.parametrize("language", LANGUAGES)
def test_sample_of_every_endpoint_works(language: str, cast: Cast, live_server: Any) -> None:
    if shutil.which(PROGRAM[language]) is None:
        pytest.skip(f"{PROGRAM[language]} is not here")
    problems = []
    for endpoint in sorted(reference.endpoints(), key=order_of_running):
        prepare(endpoint, cast)
        sample = next(each.text for each in endpoint.samples if each.language == language)
        text = filled_in(sample, endpoint, cast, live_server.url)
        done = LANGUAGES[language](text)
        if done.returncode:
            problems.append(f"{endpoint.id}\n{text}\n{done.stdout[-500:]}{done.stderr[-700:]}")
    assert not problems, "\n\n".join(problems)


def prepare(endpoint: ApiOperation, cast: Cast) -> None:
    """Brings about the state that a call needs, where an earlier one has left another."""
    app = App.objects.get(pk=cast.tested_app)
    if endpoint.id == "withdrawApp" and app.status == "DRAFT":
        factories.submit(app)
    if endpoint.id in ("testUninstall", "sendTestEvent", "testStatus", "makeTestChange"):
        services.test_install(app=app, developer=app.developer)

"""Apps that were made for the newest release work with this server: its SDKs, its example apps, and its codes of errors.

The OpenAPI document of the release is compared by lint (`tools/contract_changes.py`), and real answers are compared with it by
`tests/contract`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
import requests

from accounts.models import Business, User
from developers.docs.errors import CODES
from extensions.models import HookCall
from extensions.services.manifests import save_manifest
from installations.models import Installation
from marketplace.models import App
from stores.models import Order, Review, SitePage
from tests import factories
from tests.clients import client_of
from tests.installations.oauth_client import SECRET
from tests.pages import signed_in
from tests.ports import free_port
from tests.sdk.node_tools import node_version
from tests.waiting import wait_until
from tests.webhooks.helpers import drain, wait_for_feed
from tools.contract_changes import FOLDER, newest
from tools.released_tree import check_out
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery

APPS = Path(__file__).parent / "apps"
VERSION = newest(FOLDER).removeprefix("v")
SECTION = "Contract 18 Contract 1.0"

pytestmark = [pytest.mark.long, pytest.mark.timed, pytest.mark.django_db(transaction=True)]
needs_node = pytest.mark.skipif(node_version() < 20, reason="needs Node 20 or newer")


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = check_out(tmp_path_factory.mktemp("release"))
    if found is None:
        pytest.skip("needs the whole history, which has the release")
    return found


@pytest.fixture
def platform(live_server: Any, settings: Any) -> str:
    """As `make demo` runs it: an app may be on this machine."""
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    settings.ALLOWED_HOSTS = ["localhost", "testserver"]
    settings.BASE_URL = live_server.url
    return str(live_server.url)


@pytest.fixture
def stocked(sandbox: Business) -> Business:
    """Dana's sandbox store, with one of each kind of record that an app reads."""
    product = factories.product(sandbox, name="Espresso beans", stock=100)
    Review.objects.create(
        business=sandbox, product=product, rating=5, comment="Just right.", author_name="Kim"
    )
    SitePage.objects.create(
        business=sandbox, slug="about", title="About us", content="<p>We roast.</p>", is_published=True
    )
    return sandbox


@contextmanager
def started(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def paths(release: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(map(str, (release, release / "sdk/python"))),
    }


@pytest.mark.timeout(600)
@pytest.mark.spec(SECTION, "The SDKs of the release before work with the new server")
@pytest.mark.parametrize("language", ["python", pytest.param("node", marks=needs_node)])
def test_each_call_of_the_released_sdk(
    language: str, release: Path, platform: str, dana: User, stocked: Business, tmp_path: Path
) -> None:
    app = factories.app(dana, client_secret=SECRET)
    given = {
        "version": VERSION, "url": platform, "clientId": app.client_id, "clientSecret": SECRET, "redirectUrl": app.redirect_url,
    }  # fmt: skip
    command = {"python": [sys.executable, str(APPS / "app.py")], "node": ["node", str(APPS / "app.mjs")]}[
        language
    ]
    with started(command, cwd=tmp_path, env=paths(release) | {"SDK": str(release / "sdk/node")}) as process:
        assert process.stdin
        assert process.stdout
        print(json.dumps(given), file=process.stdin, flush=True)
        consent = process.stdout.readline().strip().removeprefix(platform)
        assert consent.startswith("/oauth/authorize?"), consent
        answer = signed_in(dana).post(
            consent, {"answer": "install", "scopes": " ".join(app.scopes), "version": ""}
        )
        print(answer["Location"], file=process.stdin, flush=True)
        assert process.stdout.readline() == "feed\n", "see its traceback"
        wait_for_feed()
        print(file=process.stdin, flush=True)
        assert process.stdout.read() == "done\n", "see its traceback"


def ordered(installation: Installation, payment_method: str, quantity: int) -> Any:
    bread = factories.product(installation.business, price=1000)
    body = {
        "items": [{"productId": str(bread.pk), "quantity": quantity}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "DELIVERY",
        "address": "1 Quay Street",
        "paymentMethod": payment_method,
    }
    return client_of(installation).post("/app-api/orders", body, content_type="application/json")


def passes_all_hooks(installation: Installation) -> dict[str, Any]:
    """Place an order at all five hook points, which must be answered as the release says. Returns the order."""
    methods = client_of(installation).get("/app-api/payment-methods").json()["methods"]
    method = methods[-1]["id"]
    assert method.startswith(f"{installation.app.slug}:")
    response = ordered(installation, method, 4)
    assert response.status_code == 201, response.content
    assert set(HookCall.objects.values_list("outcome", flat=True)) == {"ANSWERED"}
    points = set(HookCall.objects.values_list("hook_point", flat=True))
    assert points == {
        "checkout.payment_methods", "checkout.create_payment", "checkout.shipping_rates", "order.validate",
        "order.calculate_discounts",
    }  # fmt: skip
    order: dict[str, Any] = response.json()
    return order


def installed_with(app: App, store: Business, document: dict[str, Any], url: str) -> Installation:
    app.webhook_url = f"{url}/webhooks"
    app.save()
    save_manifest(app=app, developer=app.developer, document=document)
    return factories.installation(app, store)


@pytest.mark.spec(SECTION, "The example apps of the release before work with the new server")
def test_released_sample_app(
    release: Path, platform: str, app: App, sandbox: Business, tmp_path: Path
) -> None:
    port = free_port()
    url = f"http://localhost:{port}"
    text = (release / "examples/sample_app/manifest.json").read_text()
    document = orjson.loads(text.replace("https://bell.example.com", url))
    installation = installed_with(app, sandbox, document, url)
    environment = paths(release) | {
        "PLATFORM_URL": platform,
        "SAMPLE_APP_PORT": str(port),
        "SAMPLE_APP_STATE": str(tmp_path / "bell.sqlite3"),
        "ACCESS_TOKEN": installation.raw_token,  # type: ignore[attr-defined]
        "WEBHOOK_SECRET": installation.webhook_secret,
    }
    command = [sys.executable, "-m", "examples.sample_app"]
    with started(command, cwd=tmp_path, env=environment) as process:
        assert process.stdout
        assert any(re.search(rf" is on {url}", line) for line in process.stdout)
        browser = requests.Session()
        wait_until(lambda: 'class="waiting"' not in browser.get(url, timeout=5).text, 30)
        order = passes_all_hooks(installation)
        assert order["payment"]["paymentUrl"].startswith(url)
        paid = browser.post(
            order["payment"]["paymentUrl"], data={"status": "COMPLETED"}, headers={"Origin": url}, timeout=5
        )
        assert paid.ok, paid.text
        assert Order.objects.get().payment.status == "COMPLETED"
        drain()
        taken = Delivery.objects.filter(status=DeliveryStatus.SUCCEEDED).values_list("event__type", flat=True)
        assert {"order.created", "payment.completed"} <= set(taken)
        assert not Delivery.objects.exclude(status=DeliveryStatus.SUCCEEDED).exists()


@needs_node
@pytest.mark.spec(SECTION, "The example apps of the release before work with the new server")
def test_released_app_in_node(
    release: Path, platform: str, app: App, sandbox: Business, tmp_path: Path
) -> None:
    port = free_port()
    url = f"http://localhost:{port}"
    folder = tmp_path / "app"
    shutil.copytree(release / "examples/checkout_node", folder)
    (folder / "node_modules").mkdir()
    (folder / "node_modules/extension-platform-node").symlink_to(release / "sdk/node")
    installation = installed_with(app, sandbox, orjson.loads((folder / "manifest.json").read_bytes()), url)
    environment = {
        "PLATFORM_URL": platform,
        "ACCESS_TOKEN": installation.raw_token,  # type: ignore[attr-defined]
        "BUSINESS_ID": str(installation.business_id),
        "WEBHOOK_SECRET": installation.webhook_secret,
    }
    (folder / ".env").write_text("".join(f"{name}={value}\n" for name, value in environment.items()))
    command = ["node", "--env-file=.env", "server.js"]
    with started(command, cwd=folder, env={"PATH": os.environ["PATH"], "PORT": str(port)}) as process:
        assert process.stdout
        assert process.stdout.readline() == f"{url}\n"
        order = passes_all_hooks(installation)
        assert (
            "Paid."
            in requests.post(order["payment"]["paymentUrl"], data={"status": "COMPLETED"}, timeout=5).text
        )
        assert Order.objects.get().payment.status == "COMPLETED"


@pytest.mark.spec(SECTION, "Error codes are only added")
def test_codes_of_errors_stay(release: Path) -> None:
    named = re.findall(r'DocumentedError\(\s*"(\w+)"', (release / "developers/docs/errors.py").read_text())
    assert len(named) > 50
    assert set(named) <= CODES

"""Two web machines and two workers with disks of their own, a proxy, PgBouncer, a broker and an S3 server (docs/operations.md).

Every step is what an app, a developer or a merchant does by HTTP, through nginx as `deploy/nginx.conf` has it. Steps that
belong together go to different machines.
"""

import gzip
import io
import re
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from cryptography.fernet import Fernet
from PIL import Image

from tests.faults import rabbitmq
from tests.faults.machines import Machine, Network, require
from tests.faults.processes import Process, Processes, database_url
from tests.faults.servers import Redis
from tests.object_storage import CREDENTIALS, ObjectServer
from tests.pictures import upload
from tests.receivers import Receiver
from tests.webhooks.helpers import is_signed, wait_until
from tools.servers import Nginx

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
PASSWORD = "sea otters hold hands"
START = 120.0  # seconds; some five where the machine has nothing else to do

# What differs from `deploy/pgbouncer.ini`. It makes three sessions of all web servers'.
PGBOUNCER = {
    "host=127.0.0.1 port=5432 dbname=platform": "host=127.0.0.1 port={port} dbname={name} user={user}",
    "listen_addr = 127.0.0.1": "listen_addr = {address}\nunix_socket_dir =",
    "auth_type = scram-sha-256": "auth_type = any",
    "auth_file = /etc/pgbouncer/userlist.txt\n": "",
    "default_pool_size = 20": "default_pool_size = 3",
}


@dataclass
class Site:
    """The installation. `web` are its web servers by themselves."""

    url: str
    web: list[Machine]
    workers: list[Machine]
    servers: list[Process]
    files: ObjectServer

    def at(self, number: int) -> str:
        return f"http://{self.web[number].address}:8000"


@pytest.fixture(params=["redis", "rabbitmq"])
def site(
    request: pytest.FixtureRequest, processes: Processes, receiver: Receiver, tmp_path: Path
) -> Iterator[Site]:
    require("ip", "nginx", "pgbouncer", "redis-server")
    if request.param == "rabbitmq":
        rabbitmq.require()
    with ExitStack() as stack, Network(tmp_path, processes) as network, Redis(network.address) as cache:
        web = [network.machine(name) for name in ("web1", "web2")]
        workers = [network.machine(name) for name in ("worker1", "worker2")]
        proxy = network.machine("proxy")
        files = ObjectServer(network.address)
        with files:
            database = urlsplit(database_url())
            port = database.port or 5432
            here = network.address
            network.relay(f"{here}:{port}", f"{database.hostname}:{port}")
            network.relay(f"{here}:{receiver.port}", f"127.0.0.1:{receiver.port}")
            broker = cache.url
            if request.param == "rabbitmq":
                network.relay(f"{here}:5672", "127.0.0.1:5672")
                broker = f"amqp://guest:guest@{here}:5672/{network.name}"
                stack.enter_context(rabbitmq.virtual_host(network.name))
            url = f"http://{proxy.address}:8080"
            processes.use(
                BASE_URL=url,
                STORES_URL="http://stores.test:8080",
                ALLOWED_HOSTS=",".join(machine.address for machine in web),
                TRUSTED_PROXIES=proxy.address,
                SECRET_KEY="a key that all machines of this test share, 1234567890",
                FIELD_ENCRYPTION_KEYS=Fernet.generate_key().decode(),
                REDIS_URL=cache.url,
                CELERY_BROKER_URL=broker,
                MEDIA_STORAGE_URL=files.url,
                DATABASE_URL=database._replace(netloc=f"{database.username}@{here}:{port}").geturl(),
                DATA_ERASURE_DELAY="1",
                BIND="0.0.0.0:8000",
                WEB_PROCESSES="1",
                **CREDENTIALS,
            )
            proxied = Nginx(
                tmp_path / "nginx",
                listen="8080",
                web=[f"{machine.address}:8000" for machine in web],
                before=proxy.inside,
            )
            with pgbouncer(tmp_path, here, database), proxied:
                pooled = {
                    "DATABASE_URL": f"postgres://{database.username}@{here}:6432/platform",
                    "DATABASE_POOLER": "transaction",
                }
                for (
                    machine
                ) in workers:  # webhooks may go to the loopback interface, and to no private network
                    network.relay(f"127.0.0.1:{receiver.port}", f"{here}:{receiver.port}", on=machine)
                    machine.start("manage.py", "work")
                servers = [machine.start("manage.py", "serve", **pooled) for machine in web]
                workers[0].start("manage.py", "schedule")
                running = Site(url, web, workers, servers, files)
                for address in (running.at(0), running.at(1), running.url):
                    wait_until(lambda address=address: is_ready(address), timeout=START)  # type: ignore[misc]
                yield running


def is_ready(address: str) -> bool:
    try:
        return requests.get(f"{address}/readyz", timeout=10).ok
    except requests.RequestException:
        return False


class pgbouncer:  # noqa: N801  a context manager
    """In transaction mode, with three sessions for all web servers."""

    def __init__(self, directory: Path, address: str, database: Any) -> None:
        self._file = Path(directory / "pgbouncer.ini")
        text = (ROOT / "deploy/pgbouncer.ini").read_text()
        for before, after in PGBOUNCER.items():
            assert before in text, before
            text = text.replace(before, after)
        self._file.write_text(
            text.format(
                address=address, port=database.port or 5432, name=database.path[1:], user=database.username
            )
        )
        for folder in (directory, *directory.parents[:2]):  # it refuses to run as root
            folder.chmod(folder.stat().st_mode | 0o055)

    def __enter__(self) -> None:
        with (self._file.with_suffix(".log")).open("wb") as log:
            self._process = subprocess.Popen(
                ["pgbouncer", "-u", "postgres", str(self._file)], stdout=log, stderr=log
            )

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()


class Developer:
    """A person with the JSON API, and with a browser for the consent page."""

    def __init__(self, site: Site, name: str) -> None:
        self.site = site
        self.email = f"{name}@example.net"
        account = self._json(
            "POST", site.url, "/auth/register",
            json={"email": self.email, "password": PASSWORD, "name": name, "role": "DEVELOPER"},
        )  # fmt: skip
        self.headers = {"Authorization": f"Bearer {account['accessToken']}"}

    def create_app(self, webhook_url: str) -> dict[str, Any]:
        return self._json(
            "POST", self.site.url, "/developer/apps", headers=self.headers,
            json={
                "name": "First app", "slug": "first-app", "description": "The first one.", "category": "other",
                "scopes": ["read_products", "read_orders", "write_orders"],
                "redirectUrl": "http://127.0.0.1:9/callback", "webhookUrl": webhook_url,
            },
        )  # fmt: skip

    def install(self, app: dict[str, Any]) -> dict[str, Any]:
        """Sign in at one web server, consent at the other, and exchange the code at the first again."""
        browser = requests.Session()
        browser.headers["Host"] = urlsplit(self.site.url).netloc
        path = "/oauth/authorize?" + urlencode(
            {
                "response_type": "code", "client_id": app["clientId"], "redirect_uri": app["redirectUrl"],
                "state": "xyz",
            }
        )  # fmt: skip
        to_sign_in = self._page(browser, "GET", self.site.at(0) + path)
        login = urlsplit(to_sign_in.headers["Location"])
        form = self._page(browser, "GET", f"{self.site.at(0)}{login.path}?{login.query}")
        signed_in = self._press(
            browser, self.site.at(0) + login.path, form, email=self.email, password=PASSWORD
        )
        assert signed_in.status_code == 302, signed_in.text
        consent = self._page(browser, "GET", self.site.at(1) + path)
        agreed = self._press(browser, self.site.at(1) + path, consent, answer="install")
        assert agreed.status_code == 302, agreed.text
        code = parse_qs(urlsplit(agreed.headers["Location"]).query)["code"][0]
        return self._json(
            "POST", self.site.url, "/oauth/token", auth=(app["clientId"], app["clientSecret"]),
            data={"grant_type": "authorization_code", "code": code, "redirect_uri": app["redirectUrl"]},
        )  # fmt: skip

    def _page(self, browser: requests.Session, method: str, url: str, **options: Any) -> requests.Response:
        """Cookies are the platform's, whichever web server has answered."""
        cookies = {each.name: each.value or "" for each in browser.cookies}
        response = requests.request(
            method, url, allow_redirects=False, timeout=60,
            headers={"Host": browser.headers["Host"], "Accept": "text/html", **options.pop("headers", {})},
            cookies=cookies, **options,
        )  # fmt: skip
        for name, value in response.cookies.items():
            browser.cookies.set(name, value)
        return response

    def _press(
        self, browser: requests.Session, url: str, page: requests.Response, **fields: str
    ) -> requests.Response:
        hidden = {name: unescape(value) for name, value in HIDDEN.findall(page.text)}
        headers = {"Origin": self.site.url, "Referer": self.site.url + "/"}
        return self._page(browser, "POST", url, data=hidden | fields, headers=headers)

    @staticmethod
    def _json(method: str, base: str, path: str, **options: Any) -> dict[str, Any]:
        response = requests.request(method, base + path, timeout=60, **options)
        assert response.ok, f"{response.status_code} {response.text}"
        found: dict[str, Any] = response.json()
        return found


@pytest.mark.fault(28, "files in one bucket")
def test_whole_life_of_an_app_on_several_machines(site: Site, receiver: Receiver) -> None:
    dora = Developer(site, "dora")
    app = dora.create_app(receiver.url)
    token = dora.install(app)
    api = {"Authorization": f"Bearer {token['access_token']}"}

    def get(address: str, path: str) -> requests.Response:
        return requests.get(address + path, headers=api | {"Host": urlsplit(site.url).netloc}, timeout=60)

    # The app API, at each web server; they count requests together.
    remaining = [
        int(get(site.at(number % 2), "/app-api/products").headers["X-RateLimit-Remaining"])
        for number in range(4)
    ]
    assert remaining == sorted(remaining, reverse=True)
    assert len(set(remaining)) == 4
    products = get(site.url, "/app-api/products?isAvailable=true&limit=50").json()["data"]
    product = next(each for each in products if each["stock"] is None)
    order = {
        "items": [{"productId": product["id"], "quantity": 1}],
        "customer": {"name": "Kim", "email": "kim@example.com"},
        "deliveryMethod": "PICKUP", "paymentMethod": "CASH",
    }  # fmt: skip
    placed = requests.post(f"{site.url}/app-api/orders", json=order, headers=api, timeout=60)
    assert placed.status_code == 201, placed.text
    (sent,) = receiver.wait_for(1, timeout=30)
    assert sent.headers["x-webhook-event"] == "order.created"
    assert is_signed(sent, token["webhookSecret"])

    # A picture is uploaded at one web server and seen at the other and through the proxy.
    changed = requests.patch(
        f"{site.at(0)}/developer/apps/{app['id']}", timeout=60,
        headers=dora.headers | {"Host": urlsplit(site.url).netloc}, files={"icon": upload().open()},
    )  # fmt: skip
    assert changed.status_code == 200, changed.text
    path = urlsplit(changed.json()["iconUrl"]).path
    for address in (site.at(1), site.url, site.url):
        shown = get(address, path)
        assert Image.open(io.BytesIO(shown.content)).size == (32, 32)

    # A worker makes an export, and each web server has its file.
    asked = requests.post(
        f"{site.url}/app-api/exports", json={"resource": "products"}, headers=api, timeout=60
    )
    assert asked.status_code == 202, asked.text
    export = f"/app-api/exports/{asked.json()['id']}"
    wait_until(lambda: get(site.url, export).json()["status"] == "READY", timeout=90)
    first, second = (get(site.at(number), f"{export}/file") for number in range(2))
    assert (first.status_code, second.status_code) == (200, 200)
    assert first.content == second.content
    assert gzip.decompress(first.content).count(b"\n") == get(site.url, export).json()["rows"]
    assert {key.split("/")[1] for key in site.files.stored()} == {"media", "exports"}
    assert [machine.stored() for machine in (*site.web, *site.workers)] == [[], [], [], []]

    # One web machine fails: the proxy goes on with the other.
    site.servers[0].kill()
    assert [get(site.url, "/app-api/products").status_code for _ in range(6)] == [200] * 6

    # Uninstalled by the app: its token is worth nothing at any machine, and the erasure follows.
    revoked = requests.post(
        f"{site.url}/oauth/revoke", data={"token": token["access_token"]},
        auth=(app["clientId"], app["clientSecret"]), timeout=60,
    )  # fmt: skip
    assert revoked.status_code == 200
    assert [get(address, "/app-api/products").status_code for address in (site.url, site.at(1))] == [401, 401]
    erasure = receiver.wait_for(2, timeout=60)[1]
    assert erasure.headers["x-webhook-event"] == "business.data_erasure"
    assert is_signed(erasure, token["webhookSecret"])

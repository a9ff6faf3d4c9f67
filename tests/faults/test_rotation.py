"""Keys changed in rolling restarts, line by line as docs/operations-run.md ("Changing secrets") has it (scenario 32)."""

import re
import shlex
from dataclasses import dataclass, field
from html import unescape
from pathlib import Path
from string import Template
from typing import Any

import pytest
import requests
from cryptography.fernet import Fernet

from accounts.models import User
from installations.models import Installation
from stores.models import Product
from tests import factories
from tests.factories import PASSWORD
from tests.faults.deliveries import all_delivered, order, wait_for_web
from tests.faults.processes import Processes
from tests.ports import free_port
from tests.receivers import Receiver
from tests.webhooks.helpers import is_signed, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres, pytest.mark.slow]

GUIDE = Path(__file__).resolve().parents[2] / "docs/operations-run.md"
HIDDEN = re.compile(r'<input type="hidden" name="(\w+)" value="([^"]*)">')
TIMEOUT = 20.0  # seconds, of a request
START = 60.0  # seconds; some three where the machine has nothing else to do
OLD_ENCRYPTION, NEW_ENCRYPTION = Fernet.generate_key().decode(), Fernet.generate_key().decode()
OLD_SECRET, NEW_SECRET = (f"the-{age}-key-of-all-processes-of-this-test-1234567890" for age in ("old", "new"))


def documented(block: str, *, old: str, new: str) -> list[list[str]]:
    """The lines of a block of the guide, each as its words, with the keys filled in."""
    found = re.search(rf"^```sh {block}\n(.*?)^```", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    assert found, block
    lines = [shlex.split(line, comments=True) for line in found[1].splitlines()]
    return [[Template(word).substitute(OLD=old, NEW=new) for word in line] for line in lines]


@pytest.fixture
def keys_of_before(settings: Any) -> dict[str, str]:
    """To be asked for before anything that writes rows: the test itself encrypts some."""
    settings.FIELD_ENCRYPTION_KEYS = (OLD_ENCRYPTION,)
    return {"FIELD_ENCRYPTION_KEYS": OLD_ENCRYPTION, "SECRET_KEY": OLD_SECRET}


@dataclass
class Users:
    """A person at a browser, her program, and her installed app. None of them expects a failure."""

    installation: Installation
    product: Product
    receiver: Receiver
    browser: requests.Session = field(default_factory=requests.Session)
    tokens: dict[str, str] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)  # of each webhook, by its path
    newest: str = ""  # webhook
    due: int = 0  # deliveries

    @property
    def app(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.installation.raw_token}"}  # type: ignore[attr-defined]

    def sign_in(self, url: str, dana: User) -> None:
        credentials = {"email": dana.email, "password": PASSWORD}
        form = self.browser.get(f"{url}/accounts/login/", timeout=TIMEOUT)
        hidden = {name: unescape(value) for name, value in HIDDEN.findall(form.text)}
        self.browser.post(f"{url}/accounts/login/", hidden | credentials, timeout=TIMEOUT)
        self.tokens = call("POST", f"{url}/auth/login", json=credentials)

    def visit(self, url: str) -> None:
        """What a key is behind, at one web server."""
        page = self.browser.get(f"{url}/portal/", allow_redirects=False, timeout=TIMEOUT)
        assert page.status_code == 200, f"{page.status_code} {page.headers.get('Location')}"
        headers = {"Authorization": f"Bearer {self.tokens['accessToken']}"}
        call("GET", f"{url}/developer/apps", headers=headers)
        self.tokens = call("POST", f"{url}/auth/refresh", json={"refreshToken": self.tokens["refreshToken"]})
        tested = call("POST", f"{url}/webhooks/{self.newest}/test", headers=self.app)
        assert tested["success"], tested
        placed = order(url, self.installation, self.product)
        assert placed.status_code == 201, placed.text
        self.due += 1 + len(self.secrets)

    def register(self, url: str) -> None:
        """A webhook, whose secret this web server encrypts."""
        path = f"{len(self.secrets)}"
        body = {"url": self.receiver.url + path, "events": ["order.created"]}
        made = call("POST", f"{url}/webhooks", headers=self.app, json=body)
        self.secrets[f"/{path}"], self.newest = made["secret"], made["id"]

    def wait_for_deliveries(self) -> None:
        """All, each once and well signed."""
        sent = self.receiver.wait_for(self.due, timeout=START)
        wait_until(all_delivered)
        assert len(sent) == self.due
        assert all(is_signed(request, self.secrets[request.target]) for request in sent)


def call(method: str, url: str, **options: Any) -> Any:
    answer = requests.request(method, url, timeout=TIMEOUT, **options)
    assert answer.ok, f"{method} {url}: {answer.status_code} {answer.text}"
    return answer.json()


class Site:
    """Two web servers and a dispatcher, and those who use them all the time."""

    def __init__(self, processes: Processes, users: Users, **keys: str) -> None:
        self.processes, self.users = processes, users
        self._ports = [free_port(), free_port()]
        self.urls = [f"http://127.0.0.1:{port}" for port in self._ports]
        processes.use(**keys)
        self._servers = [processes.web(port) for port in self._ports]
        self._dispatcher = processes.deliver()
        for port in self._ports:
            wait_for_web(port, START)

    def restart_all(self) -> None:
        """One after the other. Meanwhile the other one is asked, as a proxy does."""
        for number, (url, other) in enumerate((self.urls, self.urls[::-1])):
            self._servers[number].terminate()
            self._servers[number] = self.processes.web(self._ports[number])
            self.users.visit(other)
            wait_for_web(self._ports[number], START)
            self.users.register(url)
            self.visit_both()
        self.users.wait_for_deliveries()  # those of the dispatcher that has the keys of before
        self._dispatcher.terminate()
        self.visit_both()
        self._dispatcher = self.processes.deliver()
        self.users.wait_for_deliveries()

    def visit_both(self) -> None:
        for url in self.urls:
            self.users.visit(url)

    def follow(self, lines: list[list[str]]) -> None:
        for line in lines:
            if line[0] == "python":
                command = self.processes.start(*line[1:])
                self.visit_both()
                assert command.wait_for_death(START) == 0, command.output
            else:
                self.processes.use(**dict(word.split("=", 1) for word in line))
                self.restart_all()


@pytest.fixture
def site(
    keys_of_before: dict[str, str],
    processes: Processes,
    installation: Installation,
    receiver: Receiver,
    dana: User,
) -> Site:
    users = Users(installation, factories.product(installation.business), receiver)
    running = Site(processes, users, **keys_of_before)
    users.sign_in(running.urls[0], dana)
    for url in running.urls:
        users.register(url)
    running.visit_both()
    return running


def settings_with(key: str, processes: Processes) -> list[str]:
    """The names of the settings that hold the key, alone or beside others."""
    return [name for name, value in processes.settings.items() if key in value]


@pytest.mark.fault(32, "keys that decrypt beside the first")
def test_encryption_key_changed_in_rolling_restarts_fails_nothing(site: Site) -> None:
    site.follow(documented("change-encryption-key", old=OLD_ENCRYPTION, new=NEW_ENCRYPTION))
    assert settings_with(OLD_ENCRYPTION, site.processes) == []
    assert not any("ImproperlyConfigured" in process.output for process in site.processes.started)


def session_of(site: Site) -> str:
    cookies = dict(site.users.browser.cookies)
    (session,) = [value for name, value in cookies.items() if "sessionid" in name]
    return session


@pytest.mark.fault(32, "keys that verify beside the first")
def test_secret_key_changed_in_rolling_restarts_signs_no_user_out(site: Site) -> None:
    session = session_of(site)
    site.follow(documented("change-secret-key", old=OLD_SECRET, new=NEW_SECRET))
    assert settings_with(OLD_SECRET, site.processes) == []
    assert session_of(site) == session  # so no request meanwhile had one that ended

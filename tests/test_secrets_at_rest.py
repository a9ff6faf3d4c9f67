"""No secret can be found where the product keeps things: database, cache, logs, mail."""

import base64
import logging
import re
import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
import requests
from django.conf import settings as django_settings
from django.core import mail
from django.core.cache import cache
from django.db import connection
from extension_platform_sdk import code_challenge

from accounts.models import User
from appapi.views.store import ProductList
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.receivers import Receiver
from tests.secrets_search import Log, cached, database, forms, mailed, where
from tests.webhooks.helpers import drain, is_signed
from webhooks.models import Webhook

SECRET = re.compile(r"(?:fbat|fbcs|fbdt|whsec)_[A-Za-z0-9_+/=-]{30,}")


# A code is the key of its grant: dead after 60 seconds or one use, and nothing without the client secret.
CODE_IN_ITS_GRANT = re.compile(r"table installations_grant: \d+ authorization code, .*")


class Run:
    """A developer's and a merchant's day over HTTP; every secret that is met is remembered under a name."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.secrets: dict[str, str] = {}

    def keep(self, name: str, secret: str) -> str:
        self.secrets[f"{len(self.secrets)} {name}"] = secret
        return secret

    def call(self, method: str, path: str, token: str = "", status: int = 200, **options: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = requests.request(method, self.url + path, headers=headers, timeout=20, **options)
        assert answer.status_code == status, answer.text
        return answer.json() if answer.content else None

    def sign_up(self, email: str, **fields: str) -> dict[str, Any]:
        password = self.keep("password", uuid.uuid4().hex)
        body = {"email": email, "password": password, "name": "Nora", **fields}
        self._keep_pair(self.call("POST", "/auth/register", status=201, json=body))
        wrong = self.keep("wrong password", uuid.uuid4().hex)
        self.call("POST", "/auth/login", status=401, json={"email": email, "password": wrong})
        pair = self.call("POST", "/auth/login", json={"email": email, "password": password})
        self._keep_pair(pair)
        replaced = self.call("POST", "/auth/refresh", json={"refreshToken": pair["refreshToken"]})
        self._keep_pair(replaced)
        self.call("POST", "/auth/refresh", status=401, json={"refreshToken": pair["refreshToken"]})
        # That ended the sign-in with all its tokens.
        pair = self.call("POST", "/auth/login", json={"email": email, "password": password})
        self._keep_pair(pair)
        renewed = self.call("POST", "/auth/refresh", json={"refreshToken": pair["refreshToken"]})
        self._keep_pair(renewed)
        return {"email": email, "password": password, **renewed}

    def _keep_pair(self, pair: dict[str, Any]) -> None:
        self.keep("access JWT", pair["accessToken"])
        self.keep("refresh JWT", pair["refreshToken"])

    def create_app(self, developer: dict[str, Any], receiver: Receiver) -> str:
        body = {
            "name": "Nightly", "slug": "nightly", "description": "Counts.", "category": "other",
            "scopes": ["read_products", "read_orders", "write_orders"],
            "redirectUrl": f"{receiver.url}callback", "webhookUrl": receiver.url,
        }  # fmt: skip
        app = self.call("POST", "/developer/apps", developer["accessToken"], 201, json=body)
        self.keep("client secret", app["clientSecret"])
        again = self.call("POST", f"/developer/apps/{app['id']}/client-secret", developer["accessToken"], 201)
        self.keep("client secret", again["clientSecret"])
        return str(app["id"])

    def install(self, developer: dict[str, Any], app_id: str) -> str:
        """Twice: the second install ends the first token."""
        for _ in range(2):
            answer = self.call(
                "POST", f"/developer/apps/{app_id}/test-install", developer["accessToken"], 201
            )
            self.keep("access token", answer["accessToken"])
            self.keep("webhook secret", answer["webhookSecret"])
        return str(answer["accessToken"])

    def use(self, token: str, receiver: Receiver) -> None:
        """Own webhook, products, an order, and calls that are refused."""
        body = {"url": receiver.url, "events": ["order.created"]}
        webhook = self.call("POST", "/webhooks", token, 201, json=body)
        self.keep("webhook's own secret", webhook["secret"])
        products = self.call("GET", "/app-api/products?isAvailable=true", token)["data"]
        product = next(each for each in products if each["stock"] is None)
        order = {
            "items": [{"productId": product["id"], "quantity": 1}],
            "customer": {"name": "Kim", "email": "kim@example.com"},
            "deliveryMethod": "PICKUP",
            "paymentMethod": "CASH",
        }
        self.call("POST", "/app-api/orders", token, 201, json=order)
        self.call("GET", "/app-api/products", self.keep("bad token", "fbat_" + uuid.uuid4().hex), 401)
        self.call("GET", "/app-api/products?limit=no", token, 400)
        self.call("GET", "/nothing/here", token, 404)

    def install_by_oauth(self, merchant: dict[str, Any], app: App, client_secret: str) -> None:
        """Consent on the page, the code exchanged with Basic, in the body, again, and with wrong credentials."""
        for way in ("basic", "body", "wrong"):
            browser = requests.Session()
            self.press(browser, "/accounts/login/", email=merchant["email"], password=merchant["password"])
            state, verifier = "as the app likes", self.keep("verifier", uuid.uuid4().hex * 2)
            query = {
                "response_type": "code", "client_id": app.client_id, "state": state,
                "code_challenge": code_challenge(verifier), "code_challenge_method": "S256",
            }  # fmt: skip
            sent = self.press(browser, f"/oauth/authorize?{urlencode(query)}", answer="install", leave=True)
            code = self.keep(
                "authorization code", parse_qs(urlsplit(sent.headers["Location"]).query)["code"][0]
            )
            form = {"grant_type": "authorization_code", "code": code, "code_verifier": verifier}
            pair = (app.client_id, client_secret)
            if way == "wrong":
                pair = (app.client_id, self.keep("wrong client secret", "fbcs_" + uuid.uuid4().hex))
            body = {"client_id": pair[0], "client_secret": pair[1]} if way == "body" else {}
            basic = None if body else pair
            for status in (401, 401) if way == "wrong" else (200, 400):
                answer = requests.post(f"{self.url}/oauth/token", data=form | body, auth=basic, timeout=20)
                assert answer.status_code == status, answer.text
                if status == 200:
                    self.keep("access token by OAuth", answer.json()["access_token"])
                    self.keep("webhook secret by OAuth", answer.json()["webhookSecret"])

    def press(
        self, browser: requests.Session, path: str, *, leave: bool = False, **form: str
    ) -> requests.Response:
        """Fill in a page's form and send it; with `leave` the answer is not followed, which leads elsewhere."""
        page = browser.get(self.url + path, timeout=20)
        assert page.status_code == 200, page.text
        hidden = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]+)"', page.text)
        answer = browser.post(
            self.url + path, data=dict(hidden) | form, timeout=20, allow_redirects=not leave
        )
        assert answer.status_code == (302 if leave else 200), answer.text
        assert "/accounts/login/" not in answer.url
        self.keep("session key", browser.cookies[django_settings.SESSION_COOKIE_NAME])
        return answer

    def by_pages(self, email: str, password: str, slug: str) -> None:
        """The portal shows secrets once: they pass through a redirect, and must not stay behind in the session."""
        browser = requests.Session()

        self.press(browser, "/accounts/login/", email=email, password=password)
        base = f"/portal/apps/{slug}"
        shown = self.press(browser, f"{base}/credentials/regenerate/", slug=slug).text
        shown += self.press(browser, f"{base}/test/").text
        shown += self.press(browser, "/accounts/tokens/", name="CI", days="30").text
        found = set(SECRET.findall(shown))
        kinds = {secret.partition("_")[0] for secret in found}
        assert kinds == {"fbcs", "fbat", "fbdt", "whsec"}
        for secret in found:
            self.keep("shown on a page", secret)


@pytest.fixture
def log() -> Iterator[Log]:
    with Log() as log:
        yield log


@pytest.fixture
def run(transactional_db: None, live_server: Any, settings: Any, log: Log) -> Run:
    settings.BASE_URL = live_server.url
    settings.DEBUG = True  # for the receiver on this machine
    settings.ADMINS = [("Ada", "ada@example.com")]
    return Run(live_server.url)


def everywhere(log: Log) -> dict[str, bytes]:
    return database() | cached() | mailed() | log.written()


@pytest.mark.long
@pytest.mark.spec(
    "Credentials", "Access tokens and client secrets are stored as hashes, webhook secrets encrypted"
)
@pytest.mark.spec("Credentials", "No secret can be found in a database dump or in the logs after a full run")
def test_no_secret_is_left_anywhere(
    run: Run, log: Log, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Receiver() as receiver:
        developer = run.sign_up("nora@example.com", role="DEVELOPER")
        app_id = run.create_app(developer, receiver)
        token = run.install(developer, app_id)
        run.use(token, receiver)
        assert drain() == 2
        requests_sent = receiver.wait_for(2)
        stored = [webhook.secret or webhook.installation.webhook_secret for webhook in Webhook.objects.all()]
        assert all(any(is_signed(sent, secret) for secret in stored) for sent in requests_sent)
        run.by_pages("nora@example.com", developer["password"], "nightly")
        app = App.objects.get(pk=app_id)
        factories.approve(app)
        client_secret = next(value for value in reversed(run.secrets.values()) if value.startswith("fbcs_"))
        merchant = run.sign_up("mary@example.com", role="MERCHANT", businessName="Harbour Bakery")
        run.install_by_oauth(merchant, app, client_secret)
        settings.DEBUG = False  # as in production: a crash is answered and reported, not shown
        crash(run, monkeypatch)

    assert len(run.secrets) >= 20
    places = everywhere(log)
    assert {"table installations_installation", "table marketplace_app", "log", "cache"} <= places.keys()
    assert b"nora@example.com" in places["table accounts_user"]  # the dump holds what was written
    assert b"Traceback" in places["log"]
    assert [hit for hit in where(run.secrets, places) if not CODE_IN_ITS_GRANT.fullmatch(hit)] == []


def crash(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of our own, which is reported with its traceback."""
    tokens = [secret for secret in run.secrets.values() if secret.startswith("fbat_test_")]
    monkeypatch.setattr(ProductList, "get", _broken)
    for token in tokens:
        requests.get(f"{run.url}/app-api/products", headers={"Authorization": f"Bearer {token}"}, timeout=20)


def _broken(*_: object) -> None:
    raise RuntimeError("out of order")


@pytest.mark.parametrize("place", ["database", "log", "cache", "mail"])
def test_planted_secret_is_found(run: Run, log: Log, place: str) -> None:
    """The control: the search above would have seen it."""
    secret = factories.new_webhook_secret(test=True)
    user: User = factories.developer("dana@example.com")
    wrapped = base64.b64encode(f"someone:{secret}".encode()).decode()
    if place == "database":
        User.objects.filter(pk=user.pk).update(name=wrapped)
    elif place == "log":
        try:
            raise ValueError(wrapped)
        except ValueError:
            logging.getLogger("webhooks.somewhere").debug("it failed", exc_info=True)
    elif place == "cache":
        cache.set("kept", wrapped)
    else:
        mail.send_mail("Hello", secret, None, ["dana@example.com"])
    expected = {"database": "table accounts_user", "mail": "mail 0"}.get(place, place)
    hits = where({"planted": secret}, everywhere(log))
    assert expected in {hit.partition(":")[0] for hit in hits}


@pytest.mark.parametrize("before", ["", "x", "xy", "client:"])
def test_base64_is_recognized_wherever_the_secret_begins(before: str) -> None:
    secret = "fbat_" + uuid.uuid4().hex
    written = base64.b64encode(f"{before}{secret}after".encode())
    assert [hit for hit in where({"token": secret}, {"log": written}) if "base64" in hit]


def test_webhook_secrets_are_kept_and_can_be_read_with_the_key(db: None, installation: Installation) -> None:
    """The search misses them because they are encrypted, not because they are lost."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT webhook_secret FROM installations_installation")
        (column,) = cursor.fetchone()
    kept = Installation.objects.get().webhook_secret
    assert kept.startswith("whsec_test_")
    assert not any(form in column.encode() for form in forms(kept).values())

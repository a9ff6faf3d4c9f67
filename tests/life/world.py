"""One app, its people and three stores, by HTTP: what they do, and what can be seen of it.

Dana owns the app, and Sam develops it on his sandbox. Mira and Tom have a store each, and Kim manages Mira's. Rita reviews.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import time_machine
from django.conf import settings
from django.core import mail
from django.db import transaction
from django.test import Client, TestCase, override_settings

from accounts.models import Business, User
from accounts.services.developer_tokens import create_developer_token
from common.web import limits
from installations.tasks import follow_approvals
from tests import factories
from tests.developers.review.reviewing import JUDGED
from tests.forms import form_on, send
from tests.installations.oauth_client import post, sent_to
from tests.pages import HTML, signed_in
from tests.receivers import Receiver
from tests.storefront.shopping import STORES_HOST
from tests.webhooks.helpers import drain, is_signed

BEGIN = datetime(2026, 11, 20, 12, tzinfo=UTC)
SITE = "https://app.example.com"
PIN = f"sha256-{'A' * 43}="
JSON = "application/json"
SCRIPT = re.compile(rf'<script[^>]*src="{SITE}/(\w+)\.js"[^>]*>')
WIDGET = re.compile(rf'src="{SITE}/frame/(\w+)[?"]')
CALLS = {"read_products": "products", "read_reviews": "reviews/stats", "read_pages": "pages"}


class World:
    """Made once. Changes within `one_life` are undone afterwards."""

    def __init__(self, receiver: Receiver, clock: time_machine.Traveller) -> None:
        self.receiver, self.clock = receiver, clock
        clock.move_to(BEGIN, tick=False)
        self.people: dict[str, User] = {
            "dana": factories.developer("dana@example.com", name="Dana"),
            "sam": factories.developer("sam@example.com", name="Sam"),
            "mira": factories.merchant("mira@example.com", name="Mira"),
            "tom": factories.merchant("tom@example.com", name="Tom"),
            "kim": factories.merchant_without_store("kim@example.com", name="Kim"),
            "rita": factories.reviewer(is_superuser=True),
        }
        self.stores = {name: Business.objects.get(owner=self.people[name]) for name in ("mira", "tom", "sam")}
        self.products = {name: factories.product(store) for name, store in self.stores.items()}
        self.kims_row = factories.staff(self.stores["mira"], self.people["kim"])
        self._tokens = {
            name: create_developer_token(
                user=self.people[name], name="Life", lifetime=timedelta(days=300), rights=["members"]
            ).text
            for name in ("dana", "sam")
        }
        self._browsers: dict[str, tuple[Client, datetime]] = {}
        self.secrets: dict[str, set[str]] = {}  # that the app has got for a store
        self.now = BEGIN

    @contextmanager
    def one_life(self) -> Iterator[None]:
        """It begins at the same time as each other one, and with nothing counted."""
        self.now = BEGIN + timedelta(hours=1)
        self.wait(timedelta(0))
        self.receiver.requests.clear()
        self._browsers.clear()
        self.secrets = {name: set() for name in self.stores}
        self._archived: set[str] = set()
        self._sams_row = self._first_row
        life = transaction.atomic()
        life._from_testcase = True  # type: ignore[attr-defined]  # noqa: SLF001  # no transaction of the product's
        with life:
            self._caches = override_settings()
            self._caches.enable()
            self._forget_counts()
            yield
            self._caches.disable()
            transaction.set_rollback(True)

    def _forget_counts(self) -> None:
        """Of rate limits, without emptying anybody's Redis."""
        self._caches.disable()
        caches = {"default": settings.CACHES["default"] | {"KEY_PREFIX": uuid4().hex}}
        self._caches = override_settings(CACHES=caches)
        self._caches.enable()
        limits.counter.cache_clear()

    def wait(self, time: timedelta) -> None:
        self.now += time
        self.clock.move_to(self.now, tick=False)

    def work(self, *, sends: bool = True) -> list[tuple[str, str, str]]:
        """What workers do: stores follow approvals, and what is due is sent. Returns what the app's server got."""
        follow_approvals()
        if not sends:
            return []
        drain()
        names = {str(store.pk): name for name, store in self.stores.items()}
        got = []
        for each in self.receiver.requests:
            store, event = names[each.headers["x-webhook-business-id"]], each.headers["x-webhook-event"]
            assert any(is_signed(each, secret) for secret in self.secrets[store]), f"{event} isn't signed"
            got.append((store, event, each.target.strip("/")))
        self.receiver.requests.clear()
        return sorted(got)

    # Dana and Sam

    def developer(self, name: str, method: str, path: str, body: Any = None) -> Any:
        """A call of the developer API about the app."""
        client = Client(headers={"Authorization": f"Bearer {self._tokens[name]}"})
        options = {} if body is None else {"data": body, "content_type": JSON}
        return getattr(client, method)(f"/developer/apps{path}", **options)

    def make_app(self, scopes: frozenset[str], url: str, script: str, widget: str) -> None:
        """Approved, with Sam as a developer, and installed in each store."""
        body = {
            "name": "Ring", "slug": "ring", "description": "Rings.", "category": "other", "scopes": sorted(scopes),
            "redirectUrl": f"{SITE}/callback", "webhookUrl": self.receiver.url + url,
        }  # fmt: skip
        made = self.developer("dana", "post", "", body).json()
        self.app, self._credentials = f"/{made['id']}", (made["clientId"], made["clientSecret"])
        assert self.save(script, widget) == 200
        self._add_sam()
        self._first_row = self._sams_row
        assert self.submit(steps=False) == 201
        self.decide("approve")
        self.work()
        answers = {store: self.exchange(self.consent(store, store, None)).json() for store in ("mira", "tom")}
        self.installed = {
            store: (each["installationId"], each["access_token"], each["webhookSecret"])
            for store, each in answers.items()
        }
        test = self.test_install().json()
        self.installed["sam"] = test["installationId"], test["accessToken"], test["webhookSecret"]

    def edit(self, scopes: frozenset[str], url: str) -> int:
        body = {"scopes": sorted(scopes), "webhookUrl": self.receiver.url + url, "version": f"1.0.{url[1:]}"}
        return int(self.developer("dana", "patch", self.app, body).status_code)

    def save(self, script: str, widget: str) -> int:
        embeds = []
        if script:
            pin = {"integrity": PIN} if script.endswith(" pinned") else {}
            url = f"{SITE}/{script.removesuffix(' pinned')}.js"
            embeds.append(
                {"embedType": "script", "name": "Script", "kind": "GLOBAL_SCRIPT", "position": "head", "scriptUrl": url} | pin
            )  # fmt: skip
        if widget:
            embeds.append(
                {
                    "embedType": "widget", "name": "Widget", "kind": "FLOATING_WIDGET", "position": "bottom_right",
                    "renderUrl": f"{SITE}/frame/{widget}",
                }
            )  # fmt: skip
        return int(self.developer("dana", "put", f"{self.app}/manifest", {"embeds": embeds}).status_code)

    def submit(self, *, steps: bool) -> int:
        body = {"release": "STEPS" if steps else "ALL"}
        answer = self.developer("dana", "post", f"{self.app}/submit", body)
        if answer.status_code == 201:
            self._submission = answer.json()["id"]
        return int(answer.status_code)

    def move_release(self, action: str) -> int:
        return int(self.developer("dana", "post", f"{self.app}/release/{action}", {}).status_code)

    def app_as_seen(self) -> dict[str, Any]:
        app = self.developer("dana", "get", self.app).json()
        release = self.developer("dana", "get", f"{self.app}/release").json()
        return {
            "status": app["status"],
            "listed": app["isListed"],
            "approved scopes": set(app["approvedScopes"]),
            "release": (release["state"], release["percent"]),
        }

    def sam_joins(self) -> int:
        """An address gets three invitations an hour, which may be less than a life needs."""
        self._forget_counts()
        return self._add_sam()

    def _add_sam(self) -> int:
        """Dana invites him, and he accepts by the mailed link."""
        mail.outbox.clear()
        with TestCase.captureOnCommitCallbacks(execute=True):
            body = {"email": "sam@example.com", "role": "DEVELOPER"}
            answer = self.developer("dana", "post", f"{self.app}/members", body)
        if answer.status_code != 201:
            return int(answer.status_code)
        self._sams_row = answer.json()["id"]
        (link,) = re.findall(r"/portal/invitations/\S+?/(?=\s)", str(mail.outbox[-1].body))
        assert self.browser("sam").post(link).status_code == 302
        return 201

    def sam_changes(self, role: str) -> int:
        """Dana gives him another role; he leaves for an empty one."""
        path = f"{self.app}/members/{self._sams_row}"
        if not role:
            return int(self.developer("sam", "delete", path).status_code)
        return int(self.developer("dana", "patch", path, {"role": role}).status_code)

    def test_install(self) -> Any:
        return self.developer("sam", "post", f"{self.app}/test-install")

    # Rita

    def decide(self, decision: str) -> None:
        fields = JUDGED | {"notes": "Not yet."}
        path = f"/admin/marketplace/submission/{self._submission}/{decision}/"
        answer = self.browser("rita").post(path, fields)
        assert "/login/" not in answer["Location"]

    def approve_until(self, wanted: Callable[[], bool]) -> None:
        """Which store a release reaches first follows from random ids. To repeat a life, it has to be the same one."""
        self.browser("rita")  # signed in outside of what is undone
        for _ in range(50):
            before = transaction.savepoint()
            self.decide("approve")
            follow_approvals()
            if wanted():
                return
            transaction.savepoint_rollback(before)
            self._forget_counts()
        raise AssertionError("The first store is never reached.")

    def suspend(self) -> None:
        path = f"/admin/marketplace/app{self.app}/suspend/"
        assert self.browser("rita").post(path, {"reason": "Spam."}).status_code == 302

    def lift_suspension(self) -> None:
        assert self.browser("rita").post(f"/admin/marketplace/app{self.app}/reinstate/").status_code == 302

    # Merchants

    def browser(self, name: str) -> Client:
        """Signed in, again after a while."""
        client, since = self._browsers.get(name, (None, self.now))
        if client is None or self.now - since > timedelta(minutes=20):
            client = signed_in(self.people[name])
            self._browsers[name] = client, self.now
        return client

    def consent(self, person: str, store: str, named: frozenset[str] | None) -> str:
        """The code that the app gets; empty if it gets none."""
        asks = {"response_type": "code", "client_id": self._credentials[0], "state": "xyz"}
        if named is not None:
            asks["scope"] = " ".join(sorted(named))
        path = f"/oauth/authorize?{urlencode(asks)}"
        browser = self.browser(person)
        page = browser.get(path)
        if page.status_code != 200:
            return ""
        body = {"scopes": " ".join(page.context["page"].scopes), "answer": "install"}
        return sent_to(browser.post(path, body | {"business": str(self.stores[store].pk)}))[1]["code"]

    def press(self, store: str, installation: str, button: str, fields: dict[str, str] | None = None) -> Any:
        path = f"/merchant/apps/{installation}/{button}/"
        return self.browser(store).post(path, fields or {})

    def switch(self, store: str, installation: str, part: str) -> bool:
        """Press a part's switch, and save. Whether there is one."""
        path, browser = f"/merchant/apps/{installation}/", self.browser(store)
        page = browser.get(path)
        fields = {field.label: field for field in page.context["form"].visible_fields()}
        if part.title() not in fields:
            return False
        field = fields[part.title()]
        assert (
            send(browser, form_on(page, path), **{field.name: None if field.initial else "on"}).status_code
            == 302
        )
        return True

    def question(self, store: str, installation: str) -> str:
        """The number of the version on the page that asks; empty where nothing is asked."""
        page = self.browser(store).get(f"/merchant/apps/{installation}/permissions/")
        return (
            ""
            if page.status_code == 302
            else str(dict(form_on(page, page.request["PATH_INFO"]).fields)["version"])
        )

    def kim_leaves(self) -> None:
        path = f"/merchant/staff/{self.kims_row.pk}/remove/"
        assert self.browser("mira").post(path).status_code == 302

    # The app's server

    def exchange(self, code: str) -> Any:
        fields = {"grant_type": "authorization_code", "code": code}
        return self._post("/oauth/token", fields)

    def revoke(self, token: str) -> int:
        return int(self._post("/oauth/revoke", {"token": token}).status_code)

    def _post(self, path: str, fields: dict[str, str]) -> Any:
        credentials = "Basic " + b64encode(":".join(self._credentials).encode()).decode()
        return post(path, fields, credentials)

    def call(self, token: str, path: str) -> Any:
        return Client(headers={"authorization": f"Bearer {token}"}).get(path)

    # Stores

    def happens(self, store: str, event: str) -> None:
        product = self.products[store]
        if event == "review.created":
            path = f"/store/{self.stores[store].slug}/products/{product.slug}/reviews/"
            fields = {"rating": "5", "author_name": "Kim", "comment": "Good."}
            done = Client(SERVER_NAME=STORES_HOST).post(path, fields)
        else:
            action = "restore" if store in self._archived else "archive"
            self._archived ^= {store}
            done = self.browser(store).post(f"/merchant/products/{product.pk}/{action}/")
        assert done.status_code == 302, done.content

    def shows(self, store: str) -> dict[str, str]:
        """The script and the widget on the store's pages."""
        page = Client(SERVER_NAME=STORES_HOST, headers=HTML).get(f"/store/{self.stores[store].slug}/")
        html = page.content.decode()
        script, widget = SCRIPT.search(html), WIDGET.search(html)
        pinned = " pinned" if script and PIN in script[0] else ""
        return {
            "script": f"{script[1]}{pinned}" if script else "",
            "widget": widget[1] if widget else "",
        }

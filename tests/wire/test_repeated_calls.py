"""A call that is repeated with its Idempotency-Key has one effect and one answer, whichever it is (contract, section 18)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from threading import Barrier
from typing import Any

import orjson
import pytest
import time_machine
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connections
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

from accounts.models import Business, User
from accounts.services import shops
from accounts.services.deletion import delete_account
from accounts.sign_in import tokens
from common.models import KeptAnswer
from common.rest import idempotency
from installations.models import Installation
from installations.services.lifecycle import uninstall
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services.members import MEMBERS
from stores.models import Order
from tests import factories
from tests.appapi.world import filled, world
from tests.approvals import approve
from tests.clients import BODY, client_of
from tests.endpoints_table import KEYED, OF_KEYS, OF_TOKENS, ORDER, WEBHOOK, Endpoint
from tests.pictures import picture
from tests.state import rows_of
from webhooks.models import Delivery, Webhook

pytestmark = pytest.mark.django_db

SPEC = "Contract 18 Contract 1.0"
JSON = "application/json"
START = datetime(2026, 11, 20, 12, tzinfo=UTC)
OF_APPS = [each for each in KEYED if each.root in OF_TOKENS]
OF_SHOPS = [each for each in KEYED if each.root == OF_KEYS]
BY_PEOPLE = {each.name for each in KEYED if each.root not in (*OF_TOKENS, OF_KEYS)}
# A request that is only answered again may write these, too.
OF_EACH_REQUEST = {"KeptAnswer", "Session", "DeveloperToken"}


def stored() -> Any:
    return rows_of(*(each for each in apps.get_models() if each.__name__ not in OF_EACH_REQUEST))


def thrice(client: Client, method: str, path: str, body: Any = b"", key: str = "", **options: Any) -> Any:
    """The first of three answers to the same call. The second and the third have no effect."""
    options = {"content_type": JSON, "headers": {"Idempotency-Key": key or f"{method} {path}"}} | options
    text = body if isinstance(body, bytes) else orjson.dumps(body)
    first = client.generic(method, path, text, **options)
    assert first.status_code < 300, (method, path, first.content)
    assert "Idempotency-Replayed" not in first
    before = stored()
    for again in [client.generic(method, path, text, **options) for _ in range(2)]:
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert again["Idempotency-Replayed"] == "true"
        assert again["X-Request-Id"] != first["X-Request-Id"]
        for name in ("Content-Type", "Cache-Control"):
            assert again.get(name) == first.get(name)
    assert stored() == before
    return first


def order_body(product: str) -> Any:
    return ORDER | {"items": [{"productId": product, "quantity": 1}]}


@pytest.fixture
def api(installation: Installation) -> Client:
    return client_of(installation)


@pytest.fixture
def second_app(dana: User) -> App:
    return factories.app(dana, name="Second", slug="second")


@pytest.fixture
def person(dana: User) -> Client:
    return client_of_person(dana)


def client_of_person(user: User) -> Client:
    return Client(headers={"authorization": f"Bearer {tokens.issue(user).access}"})


@pytest.mark.spec(
    SPEC, "Idempotency-Key works on every POST, PUT, PATCH and DELETE of the app API and of webhooks"
)
@pytest.mark.parametrize("endpoint", OF_APPS, ids=str)
def test_call_of_an_app_has_one_effect(api: Client, installation: Installation, endpoint: Endpoint) -> None:
    ids = world(installation)
    body = filled(endpoint.body, ids)
    assert thrice(api, endpoint.method, endpoint.path(ids), body).status_code == endpoint.status


@pytest.mark.spec(SPEC, "Idempotency-Key works on every unsafe call of a connected shop")
@pytest.mark.parametrize("endpoint", OF_SHOPS, ids=str)
def test_call_of_a_shop_has_one_effect(connected: shops.Connected, endpoint: Endpoint) -> None:
    shop = Client(headers={"authorization": f"Bearer {connected.key}"})
    path = endpoint.path({"store": "main", "id": "p-1", "point": "order.validate"})
    if endpoint.method == "DELETE" and "id" in endpoint.parameters:
        path += "?version=7"
    thrice(shop, endpoint.method, path, endpoint.body or b"")


class Life:
    """The life of an app by the developer API, each call of it three times."""

    def __init__(self, client: Client) -> None:
        self.client, self.called, self.number = client, set[str](), 0

    def __call__(self, method: str, path: str, body: Any = b"", **options: Any) -> Any:
        self.number += 1
        path = f"/developer/{path}"
        answer = thrice(self.client, method, path, body, key=str(self.number), **options)
        route = answer.resolver_match.route
        self.called.add(f"{method} {route}".replace("<str:", "<"))
        return answer.json() if answer.content else None


@pytest.mark.spec(
    SPEC, "Idempotency-Key works on every unsafe call of the developer API, whatever a person does"
)
@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_each_call_of_a_person_has_one_effect(
    dana: User, person: Client, sam: User, mira: User, settings: Any
) -> None:
    """Found from the URL conf: a call that isn't made here fails."""
    settings.STEP_UP = settings.AUTH_RATE_LIMITS = False
    ask = Life(person)
    app = ask("POST", "apps", BODY)["id"]
    at = f"apps/{app}"
    ask("PATCH", at, {"description": "New", "webhookUrl": WEBHOOK["url"]})
    form = {"icon": SimpleUploadedFile("icon.png", picture(size=(256, 256)), "image/png")}
    ask("PATCH", at, encode_multipart(BOUNDARY, form), content_type=MULTIPART_CONTENT)
    ask("POST", f"{at}/manifest/check", {"text": "{}"})
    ask("PUT", f"{at}/manifest", {})
    ask("POST", f"{at}/client-secret")
    invited = ask("POST", f"{at}/members", {"email": "kim@example.com", "role": "VIEWER"})["id"]
    ask("PATCH", f"{at}/members/{invited}", {"role": "DEVELOPER"})
    ask("DELETE", f"{at}/members/{invited}")
    factories.member(App.objects.get(pk=app), sam)
    ask("POST", f"{at}/transfer", {"email": sam.email})
    ask("DELETE", f"{at}/transfer")

    ask("POST", f"{at}/test-install")
    ask("POST", f"{at}/test-changes", {"event": "product.updated"})
    ask("POST", f"{at}/test-events", {"event": "order.created"})
    ask("POST", f"{at}/deliveries/{Delivery.objects.latest('id').pk}/redeliver")
    listener = ask("POST", f"{at}/listener", {})["listenerId"]
    ask("DELETE", f"{at}/listener/{listener}")
    check = ask("POST", f"{at}/checks", {})
    answers = [{"name": each["name"], "status": 303, "durationMs": 3} for each in check["requests"]]
    ask("POST", f"{at}/checks/{check['id']}/responses", {"step": check["step"], "responses": answers})
    ask("POST", f"{at}/test-uninstall")

    store = ask("POST", f"{at}/test-stores", {"scenario": "empty"})["id"]
    ask("POST", f"test-stores/{store}/changes", {"event": "order.created"})
    ask("POST", f"test-stores/{store}/advance", {"seconds": 60})
    ask("POST", f"test-stores/{store}/uninstall")
    ask("POST", f"test-stores/{store}/install")
    ask("DELETE", f"test-stores/{store}")

    ask("POST", f"{at}/submit", {})
    ask("POST", f"{at}/withdraw")
    live = approve(App.objects.get(pk=app), "ALL")
    factories.installation(live, Business.objects.get(owner=mira))
    for steps in (["advance"], ["halt", "resume", "back"]):
        live = approve(live, "STEPS", description=steps[0])
        for step in steps:
            ask("POST", f"{at}/release/{step}", {"reason": "Try."} if step in ("halt", "back") else b"")
    ask("POST", f"{at}/versions/1/restore")

    other = ask("POST", "apps", BODY | {"slug": "others"})["id"]
    ask("DELETE", f"apps/{other}")
    assert ask.called == BY_PEOPLE


@pytest.mark.parametrize("change", ["body", "path", "query", "method"])
@pytest.mark.spec(SPEC, "A key of another method, path, query or body is 409 idempotency_key_reused")
def test_key_of_another_call_is_409(api: Client, installation: Installation, change: str) -> None:
    one, two = ({"description": text} for text in ("One", "Two"))
    first, second = (world(installation, slug)["webhook_id"] for slug in ("tea", "cup"))
    method, path, body = "PATCH", f"/webhooks/{first}", one
    assert _patch(api, method, path, body).status_code == 200
    assert _patch(api, method, f"{path}/", body)["Idempotency-Replayed"] == "true"
    if change == "body":
        body = two
    elif change == "path":
        path = f"/webhooks/{second}"
    elif change == "query":
        path += "?x=1"
    else:
        method = "DELETE"
    answer = _patch(api, method, path, body)
    assert (answer.status_code, answer["X-Error-Code"]) == (409, "idempotency_key_reused")
    assert set(Webhook.objects.filter(is_app_defined=False).values_list("description", flat=True)) == {
        "One",
        "",
    }


def _patch(api: Client, method: str, path: str, body: Any, key: str = "k") -> Any:
    return api.generic(method, path, orjson.dumps(body), JSON, headers={"Idempotency-Key": key})


@pytest.mark.spec(SPEC, "Compared is what was read")
def test_body_that_is_not_read_is_not_compared(person: Client, app: App) -> None:
    """Not even its type: what a client's library sends with an empty POST is its own affair."""
    path, key = f"/developer/apps/{app.pk}/client-secret", {"Idempotency-Key": "k"}
    first = person.post(path, headers=key)  # an empty form
    again = person.post(path, {"a": 1}, content_type=JSON, headers=key)
    assert (first.status_code, again.content) == (201, first.content)


@pytest.mark.spec(SPEC, "It is looked at after 415 and 413")
def test_key_comes_after_the_type_of_a_body_that_is_read(person: Client, app: App) -> None:
    path = f"/developer/apps/{app.pk}"
    for key in ("", "k", "k"):
        answer = person.patch(path, "x", content_type="text/plain", headers={"Idempotency-Key": key})
        assert answer.status_code == 415
    assert _patch(person, "PATCH", path, {"description": "New"}).status_code == 200
    answer = person.patch(path, "x", content_type="text/plain", headers={"Idempotency-Key": "k"})
    assert answer.status_code == 415


@pytest.mark.spec(SPEC, "A kept answer is given only to a caller who could make the call now")
@pytest.mark.parametrize("how", ["scope", "role", "member", "right"])
def test_kept_answer_is_of_who_may_still_call(
    api: Client, installation: Installation, dana: User, sam: User, app: App, how: str
) -> None:
    if how == "scope":
        body = {"resource": "products"}
        assert _patch(api, "POST", "/app-api/exports", body).status_code == 202
        App.objects.update(scopes=["read_orders"])
        assert _patch(api, "POST", "/app-api/exports", body).status_code == 403
        return
    mine = factories.member(app, sam)
    client, path, body = client_of_person(sam), f"/developer/apps/{app.pk}", {"description": "New"}
    method = "PATCH"
    if how == "right":
        method, path, body = "POST", f"{path}/test-stores", {"scenario": "empty"}
        store = _patch(client, method, path, body).json()["id"]
        method, path, body = "POST", f"/developer/test-stores/{store}/advance", {"seconds": 1}
    assert _patch(client, method, path, body, "own").status_code == 200
    if how == "role":
        Membership.objects.filter(pk=mine.pk).update(role=AppRole.VIEWER)
    else:
        MEMBERS.remove(app, by=dana, member_id=mine.pk)
    again = _patch(client, method, path, body, "own")
    assert again.status_code == (403 if how == "role" else 404)
    assert "Idempotency-Replayed" not in again


@pytest.mark.spec(SPEC, "A thing that is gone isn't foreign, and absent and foreign look alike")
def test_absent_and_foreign_things_of_the_path_look_alike(
    api: Client, installation: Installation, second_app: App, shop: Business
) -> None:
    theirs = world(factories.installation(second_app, shop))["webhook_id"]
    answers = []
    for number, webhook in enumerate((theirs, "01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04")):
        found = [_patch(api, "DELETE", f"/webhooks/{webhook}", {}, f"k{number}") for _ in range(2)]
        answers += [(each.status_code, each.content, "Idempotency-Replayed" in each) for each in found]
    assert len(set(answers)) == 1
    assert answers[0][0] == 404
    assert not KeptAnswer.objects.exists()


@pytest.mark.spec(SPEC, "400, 403 and 5xx are not kept, 409 and 404 of a thing in the body are")
def test_what_is_kept(api: Client, installation: Installation) -> None:
    ids = world(installation)
    absent = order_body("01932d1c-7a40-7cc3-9d6f-0d2f4c1f8a04")
    for body, status, is_kept in (
        (absent, 404, True),
        (order_body(ids["product_id"]) | {"items": []}, 400, False),
    ):
        found = [_patch(api, "POST", "/app-api/orders", body, f"k{status}") for _ in range(2)]
        assert [each.status_code for each in found] == [status, status]
        assert ("Idempotency-Replayed" in found[1]) is is_kept
    assert KeptAnswer.objects.count() == 1


@pytest.mark.spec(SPEC, "At most 100,000 keys and 64 MiB of answers for one owner")
@pytest.mark.parametrize("limit", ["MOST_KEYS", "MOST_SIZE"])
def test_owner_of_too_many_keys_is_429(
    api: Client, installation: Installation, sam: User, monkeypatch: Any, limit: str
) -> None:
    ids = world(installation)
    assert _patch(api, "POST", "/app-api/orders", order_body(ids["product_id"]), "k1").status_code == 201
    monkeypatch.setattr(idempotency, limit, 1)
    refused = _patch(api, "POST", "/app-api/orders", order_body(ids["product_id"]), "k2")
    assert (refused.status_code, refused["X-Error-Code"]) == (429, "too_many_keys")
    assert 0 < int(refused["Retry-After"]) <= 86_400
    assert _patch(api, "POST", "/app-api/orders", order_body(ids["product_id"]), "k1").status_code == 201
    others = factories.installation(factories.app(sam), Business.objects.sandbox_of(sam))
    body = order_body(world(others)["product_id"])
    assert _patch(client_of(others), "POST", "/app-api/orders", body, "k2").status_code == 201


@pytest.mark.spec(SPEC, "Kept answers are encrypted, and their keys kept as a hash")
def test_nobody_reads_a_kept_answer_without_its_key(api: Client, installation: Installation) -> None:
    body = WEBHOOK
    made = _patch(api, "POST", "/webhooks", body, "a-key-of-mine")
    kept = KeptAnswer.objects.get()
    everything = " ".join(map(str, KeptAnswer.objects.values_list().get()))
    assert made.json()["secret"] not in everything
    assert "a-key-of-mine" not in everything
    with pytest.raises(idempotency.InvalidToken):
        idempotency._ciphers(kept.owner, "another").decrypt(kept.answer.encode())  # noqa: SLF001
    assert _patch(api, "POST", "/webhooks", body, "a-key-of-mine").json() == made.json()


@pytest.mark.spec(SPEC, "An answer under a key outlives a change of FIELD_ENCRYPTION_KEYS")
def test_answer_is_read_with_an_older_encryption_key(
    api: Client, installation: Installation, settings: Any
) -> None:
    old = list(settings.FIELD_ENCRYPTION_KEYS)
    ids = world(installation)
    first = _patch(api, "POST", "/app-api/orders", order_body(ids["product_id"]))
    settings.FIELD_ENCRYPTION_KEYS = [NEW_KEY, *old]
    assert _patch(api, "POST", "/app-api/orders", order_body(ids["product_id"])).content == first.content


NEW_KEY = "9sVqXyWjYtV0M4m7yC3v5o1Vq1mX0m0c4m3Qn0Jb8pA="


@pytest.mark.spec(SPEC, "Answers go with the installation and with the account")
def test_no_answer_outlives_its_owner(dana: User, app: App, installation: Installation) -> None:
    _patch(client_of_person(dana), "PATCH", f"/developer/apps/{app.pk}", {"description": "New"})
    _patch(client_of(installation), "POST", "/app-api/orders", order_body(world(installation)["product_id"]))
    assert KeptAnswer.objects.count() == 2
    uninstall(installation=installation)
    assert KeptAnswer.objects.get().owner == f"person:{dana.pk}"
    delete_account(user=dana)
    assert not KeptAnswer.objects.exists()


@pytest.mark.spec(SPEC, "Keys are an installation's and a person's, not their tokens'")
def test_keys_are_not_of_a_token(dana: User, sam: User, app: App) -> None:
    factories.member(app, sam)
    path, body = f"/developer/apps/{app.pk}", {"description": "New"}
    for _ in range(2):
        last = _patch(client_of_person(dana), "PATCH", path, body)
    assert last["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in _patch(client_of_person(sam), "PATCH", path, body)


@pytest.mark.spec(SPEC, "A call whose process died is free within 60 s, and only one takes over")
@pytest.mark.django_db(transaction=True)
def test_one_of_many_takes_a_dead_call_over(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = order_body(world(installation)["product_id"])
    count = Order.objects.count()
    with time_machine.travel(START, tick=False) as clock:
        with monkeypatch.context() as patch:
            patch.setattr("extensions.shops.writing.place_order", _die)
            patch.setattr(idempotency, "_release", lambda claim: None)
            with pytest.raises(SystemExit):
                _patch(client_of(installation), "POST", "/app-api/orders", body)
        assert _patch(client_of(installation), "POST", "/app-api/orders", body).status_code == 409
        clock.shift(timedelta(seconds=60))
        barrier = Barrier(4)

        def send() -> int:
            try:
                barrier.wait()
                return int(_patch(client_of(installation), "POST", "/app-api/orders", body).status_code)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(4) as pool:
            statuses = [each.result() for each in [pool.submit(send) for _ in range(4)]]
    assert set(statuses) <= {201, 409}
    assert Order.objects.count() == count + 1


def _die(**_: Any) -> None:
    raise SystemExit


@pytest.mark.spec(SPEC, "The effect and its answer are written in one transaction")
def test_call_whose_answer_can_not_be_kept_has_no_effect(
    person: Client, app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = f"/developer/apps/{app.pk}"
    person.raise_request_exception = False
    with monkeypatch.context() as patch:
        patch.setattr(idempotency, "_seal", _die_later)
        assert _patch(person, "PATCH", path, {"description": "New"}).status_code == 500
    assert App.objects.get(pk=app.pk).description != "New"
    again = _patch(person, "PATCH", path, {"description": "New"})
    assert (again.status_code, "Idempotency-Replayed" in again) == (200, False)


def _die_later(*_: Any) -> None:
    raise RuntimeError("a bug")

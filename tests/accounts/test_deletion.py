"""Deleting an account: who may, what ends with it, and what stays."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client, TestCase
from django.test.utils import CaptureQueriesContext

from accounts.enums import Role
from accounts.models import Business, DeveloperToken, SecurityEvent, User
from accounts.services.deletion import delete_account
from accounts.signals import account_deleted
from installations.models import Grant, Installation
from installations.services.authorization import authorize
from marketplace.models import App, AppVersion, Submission
from stores.enums import OPEN, OrderStatus
from stores.models import Order, Product, StoreTotals
from stores.services.customer_erasure import remove_records_of_deleted_stores
from tests import factories
from tests.accounts import second_factor
from tests.accounts.api import post, refresh, sign_in
from tests.pages import signed_in, unescaped
from webhooks.models import Erasure

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_run_at_once")]

DELETE = "/accounts/profile/delete/"


def delete(user: User, email: str | None = None, *, client: Client | None = None) -> Any:
    with TestCase.captureOnCommitCallbacks(execute=True):
        return (client or signed_in(user)).post(DELETE, {"email": email or user.email}, follow=True)


def deleted(user: User) -> str:
    page = unescaped(delete(user))
    assert "Your account is deleted" in page
    user.refresh_from_db()
    return page


@pytest.fixture
def app_of_sam(sam: User) -> App:
    app = factories.app(sam)
    factories.approve(app)
    return app


@pytest.mark.long
def test_everything_that_a_developer_signs_in_with_ends_at_once(
    dana: User, app: App, installation: Installation
) -> None:
    tokens = sign_in(Client(), dana.email).json()
    answer = signed_in(dana).post("/accounts/tokens/", {"name": "CI", "days": 30}).content.decode()
    developer_token = re.findall(r"fbdt_[\w-]{40,}", answer)[0]
    second_factor.set_up_app(dana)
    elsewhere, current = signed_in(dana), signed_in(dana)

    def answers() -> list[int]:
        bearers = (tokens["accessToken"], developer_token)
        api = [
            Client().get("/developer/apps", headers={"Authorization": f"Bearer {each}"}) for each in bearers
        ]
        raw: str = installation.raw_token  # type: ignore[attr-defined]
        api.append(Client().get("/app-api/business", headers={"Authorization": f"Bearer {raw}"}))
        return [each.status_code for each in [*api, elsewhere.get("/portal/"), current.get("/portal/")]]

    assert answers() == [200, 200, 200, 200, 200]
    unescaped(delete(dana, client=current))
    assert answers() == [401, 401, 401, 302, 302]
    assert refresh(Client(), tokens["refreshToken"]).status_code == 401
    assert sign_in(Client(), "dana@example.com").status_code == 401
    assert not DeveloperToken.objects.exists()
    page = Client().post("/accounts/login/", {"email": "dana@example.com", "password": factories.PASSWORD})
    assert "Wrong e-mail address or password" in page.content.decode()


def test_row_says_nobody_and_the_address_can_register_again(dana: User, app: App) -> None:
    deleted(dana)
    assert dana.name == "Deleted account"
    assert dana.email.endswith("@deleted.invalid")
    assert not dana.is_active
    assert not dana.has_usable_password()
    assert [letter.to for letter in mail.outbox] == [["dana@example.com"]]
    assert "is deleted" in mail.outbox[0].subject
    row = Business.objects.get(owner=dana)
    assert (row.name, row.address) == ("Deleted store", "")
    assert "dana" not in row.slug
    assert "dana" not in str(list(SecurityEvent.objects.filter(kind="ACCOUNT_DELETED").values())).lower()

    body = {"email": "dana@example.com", "password": "a long walk home", "name": "Dana", "role": "DEVELOPER"}
    assert post(Client(), "/auth/register", body).status_code == 201
    token = sign_in(Client(), "dana@example.com", "a long walk home").json()["accessToken"]
    found = Client().get("/developer/apps", headers={"Authorization": f"Bearer {token}"}).json()
    assert found["data"] == []


def test_apps_of_a_developer_end_and_each_uninstall_asks_for_erasure(
    dana: User,
    app: App,
    installation: Installation,
    app_of_sam: App,
    sandbox: Business,
    mira: User,
    shop: Business,
) -> None:
    other = factories.installation(app_of_sam, sandbox)
    of_mira = factories.installation(app_of_sam, shop)
    for user, store in ((dana, sandbox), (mira, shop)):
        authorize(
            app=app_of_sam, version=app_of_sam.approved_version, business=store, user=user,
            scopes=app_of_sam.approved_scopes, narrows=False, redirect_uri="", names_redirect_uri=False, code=user.email,
        )  # fmt: skip
    listed = factories.app(dana, name="Slow Seller")
    factories.approve(listed)
    tried = factories.installation(listed, Business.objects.sandbox_of(app_of_sam.developer))
    Submission.objects.update(developer_name="Dana")
    deleted(dana)
    assert {*AppVersion.objects.filter(app__developer=dana).values_list("developer_name", flat=True)} == {""}
    assert {*Submission.objects.filter(app__developer=dana).values_list("developer_name", flat=True)} == {""}
    assert not App.objects.live().filter(developer=dana).exists()
    assert App.objects.live().filter(pk=app_of_sam.pk).exists()
    assert Client().get(f"/marketplace/{listed.slug}/").status_code == 404
    for each in (installation, other, tried):
        each.refresh_from_db()
        assert not each.is_active
        assert Erasure.objects.get(installation=each).due_at == each.data_erasure_at
    of_mira.refresh_from_db()
    assert of_mira.is_active
    assert [each.user for each in Grant.objects.all()] == [mira]


def test_developer_with_an_app_in_a_store_stays(dana: User, shop: Business, app: App) -> None:
    factories.approve(app)
    installed = factories.installation(app, shop, is_test=False)
    with CaptureQueriesContext(connection) as statements:
        page = unescaped(signed_in(dana).get(DELETE))
    assert not any("FOR UPDATE" in each["sql"] for each in statements)  # who only looks keeps no one waiting
    assert f"{app.name} is installed in 1 store" in page
    assert f'href="/portal/apps/{app.slug}/members/"' in page
    assert 'name="email"' not in page
    assert "be deleted yet" in unescaped(delete(dana), 409)
    dana.refresh_from_db()
    assert dana.deleted_at is None
    assert signed_in(shop.owner).post(f"/merchant/apps/{installed.pk}/uninstall/").status_code == 302
    deleted(dana)


def test_merchant_with_open_orders_stays(mira: User, shop: Business) -> None:
    order = factories.order(shop, status=OPEN[-1])
    factories.order(shop, status=OrderStatus.CANCELLED)
    assert f"{shop.name} has 1 open order" in unescaped(signed_in(mira).get(DELETE))
    assert "open order" in unescaped(delete(mira), 409)
    assert User.objects.filter(pk=mira.pk, deleted_at=None).exists()
    Order.objects.filter(pk=order.pk).update(status=OrderStatus.DELIVERED)
    deleted(mira)


def test_store_closes_and_its_records_go(mira: User, shop: Business, app_of_sam: App, sam: User) -> None:
    product = factories.product(shop)
    for _ in range(3):
        factories.order(shop, status=OrderStatus.DELIVERED)
    kept = factories.product(factories.business(sam))
    installed = factories.installation(app_of_sam, shop, is_test=False)
    browser, address = Client(headers={"host": "stores.test"}), f"/store/{shop.slug}/"
    assert browser.get(address).status_code == 200
    deleted(mira)
    shop.refresh_from_db()
    assert [browser.get(each).status_code for each in (address, f"/store/{shop.slug}/")] == [404, 404]
    installed.refresh_from_db()
    assert not installed.is_active
    assert Erasure.objects.filter(installation=installed).exists()
    assert not Order.objects.filter(business=shop).exists()
    assert list(Product.objects.all()) == [kept]
    assert not Product.objects.filter(pk=product.pk).exists()
    assert not StoreTotals.objects.filter(business=shop).exists()


def test_removal_goes_on_where_it_stopped(
    mira: User, shop: Business, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(5):
        factories.order(shop, status=OrderStatus.DELIVERED)
    orders = Order.objects.filter(business=shop)
    monkeypatch.setattr("stores.tasks.customer_erasure.remove_records_of_deleted_stores", lambda: None)
    monkeypatch.setattr("stores.services.customer_erasure.READ", 2)
    deleted(mira)
    assert orders.count() == 5

    calls = 0

    def die_before_the_second(execute: Any, sql: str, *args: Any) -> Any:
        nonlocal calls
        calls += sql.startswith('SELECT "stores_order"."id" AS') and "LIMIT" in sql
        if calls == 2:
            raise KeyboardInterrupt
        return execute(sql, *args)

    with connection.execute_wrapper(die_before_the_second), pytest.raises(KeyboardInterrupt):
        remove_records_of_deleted_stores(batch=2)
    assert orders.count() == 3
    assert remove_records_of_deleted_stores(batch=2) == 1
    assert not orders.exists()
    assert remove_records_of_deleted_stores() == 0


@pytest.fixture
def crash_at_the_end() -> Iterator[None]:
    def crash(**_: Any) -> None:
        raise RuntimeError

    account_deleted.connect(crash)
    yield
    account_deleted.disconnect(crash)


@pytest.mark.usefixtures("crash_at_the_end")
def test_half_a_deletion_is_none(dana: User, installation: Installation) -> None:
    with pytest.raises(RuntimeError):
        delete_account(user=dana)
    dana.refresh_from_db()
    installation.refresh_from_db()
    assert (dana.email, dana.is_active, installation.is_active) == ("dana@example.com", True, True)
    assert sign_in(Client(), dana.email).status_code == 200
    assert not mail.outbox


def test_wrong_address_deletes_nothing(dana: User) -> None:
    for typed in ("", "sam@example.com"):
        page = unescaped(signed_in(dana).post(DELETE, {"email": typed}), 422)
        assert ("Enter your e-mail address." if not typed else "exactly as shown") in page
    dana.refresh_from_db()
    assert dana.deleted_at is None
    unescaped(delete(dana, "DANA@example.com "))


def test_reviewers_ask_an_administrator(db: None) -> None:
    rita = factories.reviewer()
    assert "Ask an administrator" in unescaped(signed_in(rita).get(DELETE))
    assert "Ask an administrator" in unescaped(delete(rita), 409)
    rita.refresh_from_db()
    assert (rita.role, rita.deleted_at) == (Role.REVIEWER, None)


def test_page_needs_a_sign_in_and_deleting_a_fresh_proof(dana: User, client: Client, settings: Any) -> None:
    assert client.get(DELETE).status_code == client.post(DELETE).status_code == 302
    settings.STEP_UP = True
    assert "/accounts/prove/" in delete(dana).redirect_chain[-1][0]
    dana.refresh_from_db()
    assert dana.deleted_at is None

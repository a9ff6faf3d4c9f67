"""Attacks on the wire. Each must fail when its protection is taken out (`make test-attacks-unprotected`)."""

import re
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfoNotFoundError

import pytest
import time_machine
from django.core.mail import EmailMessage
from django.db import connections, transaction
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import Business, ConnectedStore, DeveloperToken, Mail, Session, Staff, User
from accounts.services import choose_new_password
from accounts.services.businesses import MOST_STORES
from accounts.services.developer_tokens import create_developer_token
from accounts.services.sender import send_due
from accounts.services.shops import connect
from accounts.services.staff import STAFF
from accounts.sign_in import tokens
from accounts.tasks import send_mails
from common import lengths, places
from common.http.exchanges import Exchange
from common.http.looks import Seen
from common.web import limits as rate_limits
from developers import limits
from extensions.services.extension_states import change_controls
from installations.models import Installation
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services import apps
from marketplace.services.members import MEMBERS
from stores.connected.framing import is_framable
from stores.connected.stores import open_store
from stores.models import Product, SitePage, StoreSettings
from stores.services.order_mails import mail_placed
from stores.services.pages import create_page
from tests import factories
from tests.accounts.passkeys import Passkey
from tests.accounts.second_factor import set_up_app
from tests.clients import BODY, api_of, client_of
from tests.deliveries import OK, delivery
from tests.extensions.hooks import asking
from tests.extensions.manifests import block, script
from tests.forms import HTML, form_at, send
from tests.hooking import Hooking
from tests.installations import oauth_client
from tests.mail_server import mail_server
from tests.merchants.pages import installed
from tests.pages import signed_in
from tests.pictures import upload
from tests.receivers import Answer, Receiver
from tests.storefront.shopping import Shopper
from tests.strangers import own_places_taken, places_taken
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, DispatcherSlot, Webhook

JSON = "application/json"
METADATA = "https://169.254.169.254/latest/meta-data/"


@pytest.fixture
def elsewhere(sam: User) -> Installation:
    """Sam's app on Sam's sandbox: another tenant."""
    return factories.installation(factories.app(sam, slug="sams"), Business.objects.sandbox_of(sam))


def developer(user: User) -> Client:
    return Client(headers={"Authorization": f"Bearer {tokens.issue(user).access}"})


# The database


@pytest.mark.attack("NUL in a query")
def test_visitor_sends_text_that_the_database_has_no_place_for(db: None) -> None:
    assert Client().get("/marketplace/?q=a%00b").status_code == 400


# Other tenants


@pytest.mark.attack("owner of an app")
def test_developer_reads_and_changes_the_app_of_another(dana: User, elsewhere: Installation) -> None:
    api = developer(dana)
    path = f"/developer/apps/{elsewhere.app_id}"
    assert api.get(path).status_code == 404
    assert api.post(f"{path}/client-secret").status_code == 404


@pytest.mark.attack("role on an app")
def test_viewer_takes_the_client_secret_and_the_app(installation: Installation, sam: User) -> None:
    app = installation.app
    row = factories.member(app, sam, AppRole.VIEWER)
    api, path = developer(sam), f"/developer/apps/{app.pk}"
    assert api.get(path).status_code == 200
    assert api.post(f"{path}/client-secret").status_code == 403
    body = {"role": "DEVELOPER"}
    assert api.patch(f"{path}/members/{row.pk}", body, content_type=JSON).status_code == 403
    assert api.delete(path).status_code == 403
    assert App.objects.get(pk=app.pk).deleted_at is None


@pytest.mark.attack("address of an invitation")
def test_invitation_is_accepted_by_another_person(installation: Installation, sam: User) -> None:
    """A forwarded mail must not let its reader in."""
    app = installation.app
    invited = MEMBERS.invite(app, by=app.developer, email="kim@example.com", role="DEVELOPER")
    link = MEMBERS.token_of(Membership.objects.get(pk=invited.id))
    assert signed_in(sam).post(f"/portal/invitations/{link}/").status_code == 403
    assert not Membership.objects.filter(user=sam).exists()


@pytest.mark.attack("role in a store")
def test_person_for_orders_changes_products_and_staff(mira: User, shop: Business) -> None:
    kim = factories.merchant_without_store("kim@example.com")
    row, product = factories.staff(shop, kim, StoreRole.ORDERS), factories.product(shop)
    browser = signed_in(kim)
    for path, body in (
        (f"products/{product.pk}/archive/", {}),
        ("products/add/", {"name": "Rye", "price": "5"}),
        (f"staff/{row.pk}/role/", {"role": "MANAGER"}),
        ("staff/", {"email": "sam@example.com", "role": "MANAGER"}),
    ):
        assert browser.post(f"/merchant/{path}", body).status_code == 403
    assert Product.objects.get().status == "ACTIVE"
    assert Staff.objects.get().role == StoreRole.ORDERS


@pytest.mark.attack("foreign things before kept answers")
def test_removed_member_repeats_a_call_for_the_client_secret(dana: User, sam: User, app: App) -> None:
    member, call = factories.member(app, sam), f"/developer/apps/{app.pk}/client-secret"
    assert "fbcs_" in repeated(sam, call)
    MEMBERS.remove(app, by=dana, member_id=member.pk)
    assert "fbcs_" not in repeated(sam, call)


@pytest.mark.attack("caller of a kept answer")
def test_removed_member_repeats_a_call_for_a_token(dana: User, sam: User, app: App) -> None:
    """Of a test store, whose address doesn't name the app."""
    member = factories.member(app, sam)
    opened = api_of(sam)("post", f"/developer/apps/{app.pk}/test-stores", {"scenario": "empty"})
    call = f"/developer/test-stores/{opened.json()['id']}/install"
    assert "fbat_test_" in repeated(sam, call)
    MEMBERS.remove(app, by=dana, member_id=member.pk)
    assert "fbat_test_" not in repeated(sam, call)


def repeated(person: User, call: str) -> str:
    """What the call is answered with under one key, the first time and later."""
    return str(api_of(person)("post", call, headers={"Idempotency-Key": "k"}).content)


@pytest.mark.attack("role at the exchange")
def test_removed_manager_has_an_app_installed(mira: User, shop: Business, dana: User) -> None:
    """With a code that was agreed to a moment before."""
    listed = factories.app(dana, client_secret=oauth_client.SECRET)
    factories.approve(listed)
    kim = factories.merchant_without_store("kim@example.com")
    row = factories.staff(shop, kim)
    code = oauth_client.code_for(kim, listed)
    STAFF.remove(shop, by=mira, member_id=row.pk)
    assert oauth_client.exchange(listed, code).status_code == 400
    assert not Installation.objects.filter(app=listed).exists()


@pytest.mark.attack("installation of a webhook")
def test_app_points_the_webhook_of_another_at_itself(
    installation: Installation, elsewhere: Installation
) -> None:
    """Which would bring it the orders of another store."""
    foreign = helpers.webhook(elsewhere, "https://127.0.0.1:9/", ["order.created"])
    answer = client_of(installation).patch(
        f"/webhooks/{foreign.pk}", {"url": "https://127.0.0.1:9/mine"}, content_type=JSON
    )
    assert answer.status_code == 404
    assert Webhook.objects.get(pk=foreign.pk).url == "https://127.0.0.1:9/"


@pytest.mark.attack("person of a form")
def test_form_of_a_page_changes_the_store_of_the_next_person_at_the_browser(
    mira: User, shop: Business
) -> None:
    form = form_at(signed_in(mira), "/merchant/store/")
    tom = factories.merchant("tom@example.com")
    assert send(signed_in(tom), form, tagline="From Mira").status_code == 403
    assert not StoreSettings.objects.filter(tagline="From Mira").exists()


@pytest.mark.attack("address of a form")
@pytest.mark.parametrize(
    ("path", "typed"),
    [
        ("/merchant/staff/", {"email": "evil@example.com", "role": "MANAGER"}),
        ("/accounts/profile/email/", {"email": "evil@example.com"}),
    ],
)
def test_planted_button_sends_the_form_of_its_page_elsewhere(
    mira: User, shop: Business, mailoutbox: list[Any], path: str, typed: dict[str, str]
) -> None:
    """Fields that somebody's text puts into a form send its token and stamp along, with fields of its own."""
    browser = Client(enforce_csrf_checks=True, headers={"accept": "text/html"})
    browser.force_login(mira)
    page = f"/merchant/pages/{create_page(business=shop, title='About').pk}/edit/"
    form = form_at(browser, page)
    for stamps in ({}, {":stamp": ""}, {":stamp": [dict(form.fields)[":stamp"], ""]}):
        answer = send(browser, replace(form, action=path), **typed, **stamps)
        assert answer.status_code == 403
        assert "This form has expired, and nothing was saved." in answer.text
    assert not Staff.objects.exists()
    assert mailoutbox == []
    assert "evil" not in browser.get(path if path.startswith("/merchant") else "/accounts/profile/").text
    assert send(browser, form, title="About us").status_code == 302  # at its own address it is good


@pytest.mark.attack("person of a stamp")
def test_planted_button_sends_the_stamp_of_the_person_who_planted_it(mira: User, shop: Business) -> None:
    browser = Client(enforce_csrf_checks=True, headers={"accept": "text/html"})
    browser.force_login(mira)
    of_tom = form_at(
        signed_in(factories.merchant("tom@example.com")), "/accounts/profile/", "/accounts/profile/name/"
    )
    form = form_at(browser, "/accounts/profile/", "/accounts/profile/name/")
    assert send(browser, form, **{":stamp": dict(of_tom.fields)[":stamp"], "name": "Evil"}).status_code == 403
    mira.refresh_from_db()
    assert mira.name != "Evil"


@pytest.mark.long
@pytest.mark.attack("person of a kept form")
def test_next_person_at_a_browser_reads_what_was_typed_before(mira: User, shop: Business) -> None:
    browser = signed_in(mira)
    form = form_at(browser, "/merchant/store/")
    Session.objects.all().delete()
    answer = send(browser, form, tagline="A secret plan")
    tom = factories.merchant("tom@example.com")
    browser.post("/accounts/login/", {"email": tom.email, "password": factories.PASSWORD})
    for path in ("/merchant/", "/merchant/store/"):
        assert "A secret plan" not in browser.get(path).text
    assert answer["Location"] == "/accounts/login/?next=/merchant/store/"


# Apps use up what is for all


@pytest.mark.long
@pytest.mark.attack("places for those who wait")
def test_apps_that_hang_take_every_thread(installation: Installation) -> None:
    with Receiver() as receiver, places_taken():
        receiver.respond_with(Answer(delay=1.5))
        webhook = helpers.webhook(installation, receiver.url, ["order.created"])
        answer = client_of(installation).post(f"/webhooks/{webhook.pk}/test")
    assert (answer.status_code, answer.get("Retry-After")) == (503, "10")
    assert not Delivery.objects.exists()


@pytest.mark.attack("places for work of our own")
def test_merchant_uploads_pictures_on_every_thread(mira: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "WAIT", 0.01)
    with own_places_taken():
        answer = signed_in(mira).post("/merchant/pages/picture/", {"picture": upload()})
    assert (answer.status_code, answer.get("Retry-After")) == (503, "5")


@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
@pytest.mark.attack("end of the wait for a lock")
def test_developer_keeps_every_thread_waiting_for_one_row(dana: User, installation: Installation) -> None:
    """Requests of other threads, as a server has them: their sessions begin within a request."""
    api, path = developer(dana), f"/developer/apps/{installation.app_id}"

    def rename() -> Any:
        try:
            return api.patch(path, {"name": "Mine"}, content_type=JSON)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool, transaction.atomic():
        App.objects.select_for_update().get(pk=installation.app_id)
        renamed = pool.submit(rename)
        assert wait([renamed], timeout=10).done
        answer = renamed.result()
    assert (answer.status_code, answer.headers["X-Error-Code"]) == (503, "locked")
    assert answer.headers["Retry-After"] == "1"


@pytest.mark.long
@pytest.mark.attack("count of openings")
def test_developer_opens_busy_stores_again_and_again(
    dana: User, app: App, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    monkeypatch.setattr(limits, "CHANGES", 8)
    api, path = developer(dana), f"/developer/apps/{app.pk}/test-stores"
    answers = [api.post(path, {"scenario": "busy"}, content_type=JSON) for _ in range(2)]
    assert [each.status_code for each in answers] == [201, 429]


@pytest.mark.timed
@pytest.mark.django_db(transaction=True)
@pytest.mark.attack("two test calls of an app")
def test_app_tests_its_webhooks_many_times_at_once(installation: Installation) -> None:
    def press() -> int:
        try:
            return client_of(installation).post(f"/webhooks/{webhook.pk}/test").status_code
        finally:
            connections.close_all()

    with Receiver() as receiver, ThreadPoolExecutor(2) as others:
        receiver.respond_with(Answer(delay=5))
        webhook = helpers.webhook(installation, receiver.url, ["order.created"])
        for _ in range(2):
            others.submit(press)
        receiver.wait_for(2)
        assert press() == 429
        receiver.hang_up()


# An app wants more than it was given


@pytest.mark.attack("scope of a call")
def test_app_reads_orders_without_the_scope(dana: User, sandbox: Business) -> None:
    factories.order(sandbox)
    app = factories.app(dana, scopes=["read_products"])
    answer = client_of(factories.installation(app, sandbox)).get("/app-api/orders")
    assert (answer.status_code, "read_orders" in answer.json().get("message", "")) == (403, True)


@pytest.mark.attack("pause of an app")
def test_paused_app_goes_on_reading(installation: Installation) -> None:
    Installation.objects.filter(pk=installation.pk).update(paused_at=installation.installed_at)
    assert client_of(installation).get("/app-api/orders").status_code == 403


@pytest.mark.attack("right to an unsent payload")
def test_app_reads_what_it_was_never_sent(installation: Installation) -> None:
    """The order happened while it had the scope; the scope was taken away before the delivery."""
    webhook = helpers.webhook(installation, "https://127.0.0.1:9/", ["order.created"])
    helpers.publish(installation.business)
    App.objects.filter(pk=installation.app_id).update(scopes=["read_products"])
    answer = client_of(installation).get(f"/webhooks/{webhook.pk}/deliveries/{Delivery.objects.get().pk}")
    assert answer.json()["payload"] is None


@pytest.mark.attack("right to compare an unsent payload")
def test_developer_compares_what_was_never_sent(installation: Installation, dana: User) -> None:
    """The comparison is a second page with a delivery's data. The store uninstalled the app before this one was sent."""
    webhook = helpers.webhook(installation, "https://127.0.0.1:9/", ["order.created"])
    delivery(webhook, DeliveryStatus.SUCCEEDED, OK)
    unsent = delivery(webhook, DeliveryStatus.CANCELLED, data={"orderNumber": "secret-of-the-store"})
    Installation.objects.update(uninstalled_at=timezone.now())
    page = f"/portal/apps/{installation.app.slug}/deliveries/{unsent.pk}/compare/"
    assert "secret-of-the-store" not in signed_in(dana).get(page, follow=True).text


@pytest.mark.attack("owner's right to remove members")
def test_viewer_removes_a_developer(dana: User, sam: User, app: App) -> None:
    kim = factories.developer("kim@example.com")
    factories.member(app, sam, AppRole.VIEWER)
    row = factories.member(app, kim)
    assert developer(sam).delete(f"/developer/apps/{app.pk}/members/{row.pk}").status_code == 403
    assert developer(sam).delete(f"/developer/apps/{app.pk}/members/{dana.pk}").status_code == 403
    assert Membership.objects.filter(user=kim).exists()


@pytest.mark.attack("lock of a suspended app's manifest")
def test_suspended_developer_changes_what_stores_load(dana: User, app: App) -> None:
    factories.approve(app)
    App.objects.filter(pk=app.pk).update(suspended_at=app.created_at)
    answer = developer(dana).put(f"/developer/apps/{app.pk}/manifest", {}, content_type=JSON)
    assert answer.status_code == 409


@pytest.mark.attack("approved reach")
def test_app_that_was_approved_with_a_block_brings_a_script(dana: User, app: App, shop: Business) -> None:
    """It was approved and installed without one, so no reviewer and no merchant has agreed to it."""
    path = f"/developer/apps/{app.pk}/manifest"
    developer(dana).put(path, {"blocks": [block()]}, content_type=JSON)
    factories.approve(app)
    installed(app, shop)
    assert developer(dana).put(path, {"embeds": [script()]}, content_type=JSON).status_code == 200
    page = Client(headers={"host": "stores.test", "Accept": "text/html"}).get(f"/store/{shop.slug}/")
    assert (page.status_code, "count.js" in page.content.decode()) == (200, False)


@pytest.mark.attack("pin of an approved script")
def test_developer_takes_the_pin_off_a_script(dana: User, app: App, shop: Business) -> None:
    """The merchant has read that browsers run the script only with the content that its developer pinned."""
    pinned = script(integrity=f"sha256-{'A' * 43}=")
    path = f"/developer/apps/{app.pk}/manifest"
    developer(dana).put(path, {"embeds": [pinned]}, content_type=JSON)
    factories.approve(app)
    installed(app, shop)
    assert developer(dana).put(path, {"embeds": [script()]}, content_type=JSON).status_code == 200
    page = Client(headers={"host": "stores.test", "Accept": "text/html"}).get(f"/store/{shop.slug}/")
    assert pinned["integrity"] in page.content.decode()


@pytest.mark.attack("cap on discounts")
def test_app_gives_everything_away(shop: Business, hooking: Hooking) -> None:
    app = hooking("order.calculate_discounts", {"discount": 10**12, "reason": "free"})
    change_controls(installation=app.installation, switched={}, most_discount=10)
    assert asking.discount(shop, subtotal=2000).amount == 200


# The platform's server as a way into its network


@pytest.mark.attack("vetted addresses")
def test_webhook_asks_the_clouds_metadata_service(installation: Installation) -> None:
    answer = client_of(installation).post(
        "/webhooks", {"url": METADATA, "events": ["order.created"]}, content_type=JSON
    )
    assert (answer.status_code, Webhook.objects.count()) == (400, 0)


# OAuth


@pytest.fixture
def client_app(dana: User) -> App:
    return factories.app(dana, client_secret=oauth_client.SECRET)


@pytest.mark.attack("verifier of a code")
def test_stolen_code_is_exchanged_without_its_verifier(dana: User, client_app: App) -> None:
    code = oauth_client.code_for(dana, client_app, **oauth_client.PKCE)
    answer = oauth_client.exchange(client_app, code, code_verifier="a" * 43)
    assert (answer.status_code, answer.json().get("error")) == (400, "invalid_grant")


@pytest.mark.attack("code that works once")
def test_code_is_exchanged_a_second_time(dana: User, client_app: App) -> None:
    code = oauth_client.code_for(dana, client_app)
    assert oauth_client.exchange(client_app, code).status_code == 200
    again = oauth_client.exchange(client_app, code)
    assert (again.status_code, again.json().get("error")) == (400, "invalid_grant")


# People


@pytest.mark.attack("family of refresh tokens")
def test_thief_goes_on_with_a_copied_refresh_token(client: Client, dana: User) -> None:
    """The thief refreshes first. The owner's next refresh shows the theft, and ends the thief's tokens, too."""
    body = {"email": dana.email, "password": factories.PASSWORD}
    owners = client.post("/auth/login", body, content_type=JSON).json()["refreshToken"]
    thiefs = client.post("/auth/refresh", {"refreshToken": owners}, content_type=JSON).json()
    assert client.post("/auth/refresh", {"refreshToken": owners}, content_type=JSON).status_code == 401
    stolen = Client(headers={"Authorization": f"Bearer {thiefs['accessToken']}"})
    assert stolen.get("/developer/apps").status_code == 401


@pytest.mark.attack("second factor of a sign-in")
def test_thief_of_a_password_gets_tokens(client: Client, dana: User) -> None:
    set_up_app(dana)
    body = {"email": dana.email, "password": factories.PASSWORD}
    assert client.post("/auth/login", body, content_type=JSON).status_code == 401


@pytest.mark.attack("second factor of staff")
def test_thief_of_a_reviewers_password_reviews(client: Client, db: None, settings: Any) -> None:
    """The reviewer has no second factor yet."""
    settings.SECOND_FACTOR_FOR_STAFF = True
    client.force_login(factories.reviewer(is_superuser=True))
    assert client.get("/admin/marketplace/submission/").status_code == 302


@pytest.mark.attack("step-up")
def test_thief_of_a_session_takes_the_client_secret(
    client: Client, dana: User, app: App, settings: Any
) -> None:
    settings.STEP_UP = True
    client.force_login(dana)
    path = f"/portal/apps/{app.slug}/credentials/regenerate/"
    token = re.search(r'name="form_token" value="([^"]*)"', client.get(path).content.decode())
    assert token
    answer = client.post(path, {"slug": app.slug, "form_token": token[1]})
    assert b'value="fbcs_' not in answer.content


@pytest.mark.attack("confirmed address")
def test_app_is_submitted_under_the_address_of_another(dana: User, app: App, settings: Any) -> None:
    settings.CONFIRM_ADDRESSES = True
    answer = developer(dana).post(f"/developer/apps/{app.pk}/submit", {}, content_type=JSON)
    assert answer.status_code == 403


@pytest.mark.attack("requests of a developer")
def test_developer_calls_without_end(
    dana: User, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    monkeypatch.setattr(rate_limits, "PERSON_REQUESTS", 3)
    api = developer(dana)
    assert [api.get("/developer/apps").status_code for _ in range(4)] == [200, 200, 200, 429]


@pytest.mark.attack("forms of a merchant")
def test_merchant_sends_forms_without_end(
    mira: User, shop: Business, monkeypatch: pytest.MonkeyPatch, stopped_clock: None
) -> None:
    monkeypatch.setattr(rate_limits, "PERSON_REQUESTS", 1)
    browser = signed_in(mira)
    form = form_at(browser, "/merchant/products/add/")
    assert send(browser, form, name="Rye Bread", price="6.90").status_code == 302
    assert (
        send(browser, form_at(browser, "/merchant/products/add/"), name="Bun", price="1").status_code == 429
    )
    assert list(Product.objects.filter(business=shop).values_list("name", flat=True)) == ["Rye Bread"]


@pytest.mark.attack("length of a page's text")
def test_merchant_types_a_page_of_megabytes(mira: User, shop: Business) -> None:
    """Reading it as Markdown takes more time and memory than its length."""
    browser, words = signed_in(mira), "x" * (lengths.PAGE + 1)
    about = create_page(business=shop, title="About us")
    path = f"/merchant/pages/{about.pk}/text/"
    assert browser.post(path, {"content": words}, headers=HTML).status_code == 400
    assert browser.post(path, {"content": words[1:]}, headers=HTML).status_code == 200


@pytest.mark.attack("number of apps")
def test_developer_makes_apps_without_end(dana: User, app: App, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apps, "MOST_APPS", 1)
    assert developer(dana).post("/developer/apps", BODY, content_type=JSON).status_code == 409


@pytest.mark.attack("listeners of a developer")
def test_developer_takes_all_the_listeners(dana: User, sam: User, sandbox: Business, settings: Any) -> None:
    settings.LISTENERS = 4
    api = developer(dana)
    for number in range(4):
        own = factories.app(dana, slug=f"own-{number}")
        factories.installation(own, sandbox)
        api.post(f"/developer/apps/{own.pk}/listener", {}, content_type=JSON)
        DispatcherSlot.objects.update(seen_at=Now() + timedelta(hours=1))  # they all keep beating
    other = factories.app(sam)
    factories.installation(other, Business.objects.sandbox_of(sam))
    answer = developer(sam).post(f"/developer/apps/{other.pk}/listener", {}, content_type=JSON)
    assert answer.status_code == 201


@pytest.mark.attack("confirmed address")
def test_token_is_made_under_the_address_of_another(client: Client, dana: User, settings: Any) -> None:
    """It would work on once the owner of the address has the account."""
    settings.CONFIRM_ADDRESSES = True
    client.force_login(dana)
    answer = client.post("/accounts/tokens/", {"name": "CI", "days": 365})
    assert (answer.status_code, DeveloperToken.objects.count()) == (403, 0)


@pytest.mark.attack("end of tokens with a reset")
def test_thief_keeps_a_token_through_a_reset(dana: User) -> None:
    token = create_developer_token(user=dana, name="CI", lifetime=timedelta(days=365)).text
    choose_new_password(user=dana, password="seven quiet gardens")
    stolen = Client(headers={"Authorization": f"Bearer {token}"})
    assert stolen.get("/developer/apps").status_code == 401


@pytest.mark.attack("passkeys after the password")
def test_thief_keeps_a_passkey_through_a_reset(client: Client, dana: User, settings: Any) -> None:
    settings.BASE_URL = "https://testserver"
    client.post("/accounts/login/", {"email": dana.email, "password": factories.PASSWORD})
    passkey = Passkey(dana, client)
    choose_new_password(user=dana, password="seven quiet gardens")
    thief = Client()
    passkey.sign_in(thief)
    assert thief.get("/portal/").status_code == 302


@pytest.mark.attack("right of a token")
@pytest.mark.parametrize(("method", "call"), [("post", "/client-secret"), ("delete", "")])
def test_thief_of_a_token_takes_the_app(dana: User, app: App, method: str, call: str) -> None:
    token = create_developer_token(user=dana, name="CI", lifetime=timedelta(days=365)).text
    stolen = Client(headers={"Authorization": f"Bearer {token}"})
    assert getattr(stolen, method)(f"/developer/apps/{app.pk}{call}").status_code == 403


@pytest.mark.long
@pytest.mark.attack("count of wrong codes")
@pytest.mark.usefixtures("stopped_clock")
def test_codes_are_guessed_from_many_networks(client: Client, dana: User) -> None:
    set_up_app(dana)
    body = {"email": dana.email, "password": factories.PASSWORD, "otp": "000000"}
    statuses = [
        client.post("/auth/login", body, content_type=JSON, REMOTE_ADDR=f"203.0.{number}.7").status_code
        for number in range(25)
    ]
    assert statuses == [401] * 20 + [429] * 5


@pytest.mark.attack("proof of the administration")
@pytest.mark.parametrize("page", ["auth/group/add/", "accounts/user/add/"])
def test_thief_of_a_session_makes_staff(client: Client, db: None, settings: Any, page: str) -> None:
    settings.STEP_UP = True
    client.force_login(factories.reviewer(is_superuser=True))
    answer = client.post(
        f"/admin/{page}", {"name": "Helpers", "email": "eve@example.com", "usable_password": "false"}
    )
    assert answer["Location"].startswith("/accounts/prove/")


@pytest.mark.attack("network of a guess")
def test_stranger_locks_the_owner_out(client: Client, dana: User) -> None:
    def sign_in(password: str, address: str) -> int:
        body = {"email": dana.email, "password": password}
        return client.post("/auth/login", body, content_type=JSON, REMOTE_ADDR=address).status_code

    assert {sign_in("a guess of a stranger", "203.0.113.7") for _ in range(12)} == {401, 429}
    assert sign_in(factories.PASSWORD, "198.51.100.7") == 200


@pytest.mark.attack("names that pass for another")
def test_developer_passes_for_the_platform(client: Client, db: None) -> None:
    """Merchants would read the name on the consent page."""
    body = {"email": "eve@example.com", "password": factories.PASSWORD, "role": "DEVELOPER"}
    for name in ("Extension Platform", "extension-platform", "Platform Support"):
        answer = client.post("/auth/register", body | {"name": name}, content_type=JSON)
        assert (answer.status_code, User.objects.count()) == (400, 0)


@pytest.mark.attack("address of a page in a name")
def test_stranger_is_named_like_a_link(client: Client, db: None) -> None:
    """The buyer of a store, or the owner of a mailbox, would get it in a mail from the platform."""
    body = {"email": "eve@example.com", "password": factories.PASSWORD, "role": "MERCHANT", "name": "Eve"}
    for names in ({"name": "unlock it: https://evil.example/"}, {"businessName": "www.evil.example"}):
        answer = client.post("/auth/register", {"businessName": "Bakery"} | body | names, content_type=JSON)
        assert (answer.status_code, User.objects.count()) == (400, 0)


@pytest.mark.attack("address of a page in a product's name")
def test_stranger_sells_a_link(mira: User, shop: Business) -> None:
    """The buyer, whose address the stranger typed, would read it in a mail from the platform."""
    browser = signed_in(mira)
    for name in (
        "Unlock your account: https://evil.example/unlock",
        "www.evil.example",
        "evil.example/unlock",
    ):
        answer = browser.post("/merchant/products/add/", {"name": name, "price": "1"})
        assert (answer.status_code, Product.objects.count()) == (422, 0)


@pytest.mark.attack("mails to one address")
def test_strangers_fill_a_mailbox(
    client: Client,
    dana: User,
    settings: Any,
    mailoutbox: list[EmailMessage],
    tasks_run_at_once: None,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.CONFIRM_ADDRESSES = True
    person = {"email": dana.email, "password": factories.PASSWORD, "name": "Eve", "role": "DEVELOPER"}
    began = datetime(2026, 11, 20, tzinfo=UTC)

    def ask(path: str, form: dict[str, str]) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return client.post(path, form)

    for hour in range(5):
        with time_machine.travel(began + timedelta(hours=hour), tick=False):
            said = [ask("/accounts/register/", person) for _ in range(4)]
            said += [ask("/accounts/password-reset/", {"email": dana.email}) for _ in range(4)]
        assert len({(answer.status_code, answer["Location"]) for answer in said}) == 2, (
            "the pages give no sign of it"
        )
        assert len(mailoutbox) == min(6 * (hour + 1), 20)


@pytest.mark.attack("mails to one address")
def test_people_invite_one_address(
    sam: User,
    mailoutbox: list[EmailMessage],
    stopped_clock: None,
    tasks_run_at_once: None,
    django_capture_on_commit_callbacks: Any,
) -> None:
    """Each is somebody else, with a thing of their own; one of them spells the address in another way."""
    with django_capture_on_commit_callbacks(execute=True):
        for number, address in enumerate(["kim@example.com", "KIM@example.com"]):
            app = factories.app(factories.developer(f"d{number}@example.com"))
            body = {"email": address, "role": "VIEWER"}
            answer = developer(app.developer).post(
                f"/developer/apps/{app.pk}/members", body, content_type=JSON
            )
            assert answer.status_code == 201
        for number in range(3):
            merchant = signed_in(factories.merchant(f"m{number}@example.com"))
            answer = merchant.post("/merchant/staff/", {"email": "kim@example.com", "role": "MANAGER"})
            assert answer.status_code == 302
    assert (Membership.objects.count(), Staff.objects.count(), len(mailoutbox)) == (2, 3, 3)


@pytest.mark.attack("mails of all new stores of a person")
def test_stranger_opens_stores_to_mail_more_people(
    mira: User,
    shop: Business,
    settings: Any,
    mailoutbox: list[EmailMessage],
    tasks_run_at_once: None,
    django_capture_on_commit_callbacks: Any,
) -> None:
    settings.NEW_STORE_MAILS = 2
    for number, store in enumerate([shop, factories.business(mira), factories.business(mira)]):
        shopper, bread = Shopper(store), factories.product(store)
        shopper.take(bread)
        with django_capture_on_commit_callbacks(execute=True):
            assert shopper.place(customer_email=f"kim{number}@example.com").status_code == 302
    assert [mail.to for mail in mailoutbox] == [["kim0@example.com"], ["kim1@example.com"]]
    assert Mail.objects.get(kind="order-placed").to == "kim2@example.com", "it waits for the next day"


@pytest.mark.attack("number of stores")
def test_stranger_opens_stores_without_end(mira: User, shop: Business) -> None:
    for _ in range(MOST_STORES - 1):
        factories.business(mira)
    form = {"name": "Eleventh", "currency": "USD", "timezone": "UTC"}
    answer = signed_in(mira).post("/merchant/businesses/add/", form)
    assert (answer.status_code, answer.headers.get("X-Error-Code")) == (409, "too_many_stores")
    assert Business.objects.filter(owner=mira).count() == MOST_STORES


@pytest.mark.attack("one row of many")
def test_bad_row_of_a_strangers_store_holds_up_all_stores(shop: Business, settings: Any) -> None:
    """A buyer's address that can't be written, and something unforeseen."""
    odd, good = (
        Business.objects.get(owner=factories.merchant(f"{name}@example.com")) for name in ("eve", "tom")
    )
    Business.objects.filter(pk=odd.pk).update(timezone="Nowhere/Nowhere")
    for store, address in (
        (shop, f"eve@{'ä' * 70}.example"),
        (odd, "eve@example.com"),
        (good, "kim@example.com"),
    ):
        order = factories.order(store, customer_email=address, page_key_digest=store.slug)
        mail_placed(order=order, page_key="key")
    with mail_server(settings) as server, suppress(ZoneInfoNotFoundError):
        send_due()
    assert [address for address, _ in server.taken] == ["kim@example.com"]


@pytest.mark.attack("texts of mail errors")
def test_made_up_address_of_a_buyer_gets_into_the_log(
    shop: Business, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    order = factories.order(shop, customer_email="secret@example.com", page_key_digest="x")
    with mail_server(settings) as server:
        server.refused["secret@example.com"] = "550 no such user: secret@example.com"
        mail_placed(order=order, page_key="key")
        assert send_mails.apply().state == "SUCCESS"
    assert "was not sent" in caplog.text
    assert "secret@" not in caplog.text


@pytest.mark.attack("way back on this site")
def test_link_leads_from_the_platform_to_another_site(client: Client) -> None:
    answer = client.post("/theme/", {"theme": "dark", "next": "https://phish.example/accounts/login/"})
    assert answer["Location"] == "/"


# Code in our pages


@pytest.mark.attack("own zone of the stores")
@pytest.mark.parametrize(
    "path",
    ["/merchant/orders/", "/portal/", "/admin/", "/accounts/login/", "/auth/login", "/app-api/orders",
     "/store/harbour/../../merchant/orders/", "/store/harbour/..%2f..%2fmerchant/orders/"],
)  # fmt: skip
def test_script_of_a_store_finds_the_platform_on_its_own_origin(mira: User, path: str) -> None:
    """Also where a proxy resolves dots and encoded slashes, or where a session cookie came along."""
    client = signed_in(mira)
    for spelled in {path, path.replace("%2f", "/").replace("/store/harbour/../..", "")}:
        assert client.get(spelled, headers={"host": "stores.test"}).status_code == 404


@pytest.mark.attack("origin of a form")
def test_page_of_another_store_fills_the_cart(client: Client, shop: Business) -> None:
    product = factories.product(shop, slug="bread")
    answer = client.post(
        f"/store/{shop.slug}/cart/",
        {"product": str(product.pk), "quantity": "1"},
        headers={"host": "stores.test", "Sec-Fetch-Site": "same-site", "Accept": "text/html"},
    )
    assert (answer.status_code, "another site" in answer.content.decode()) == (403, True)


@pytest.mark.attack("cleaned markup")
def test_page_of_a_store_runs_a_script(client: Client, shop: Business) -> None:
    attack = '<p onclick="alert(1)">Hi</p><script>alert(2)</script><a href="javascript:alert(3)">x</a>'
    create_page(business=shop, title="About", content=attack, is_published=True)
    slug = SitePage.objects.get().slug
    page = client.get(f"/store/{shop.slug}/pages/{slug}/", headers={"host": "stores.test"}).content.decode()
    assert ("Hi" in page, "alert(" in page) == (True, False)


@pytest.mark.attack("origin of a frame")
def test_app_frames_the_platform_itself(dana: User, app: App, settings: Any) -> None:
    """In a sandboxed frame of our own origin, the sandbox would protect nothing."""
    settings.BASE_URL = "https://platform.example"
    block = {
        "key": "b", "name": "B", "renderUrl": "https://platform.example/portal/", "settingsSchema": {}
    }  # fmt: skip
    answer = developer(dana).put(f"/developer/apps/{app.pk}/manifest", {"blocks": [block]}, content_type=JSON)
    assert answer.status_code == 400
    assert "on the platform's own origin" in str(answer.json()["details"])


@pytest.mark.attack("own server of a submitted URL")
def test_app_has_its_codes_sent_to_a_store(dana: User, app: App, settings: Any) -> None:
    """Where another app's script reads the address."""
    settings.STORES_URL = "https://{slug}.shops.example"
    App.objects.filter(pk=app.pk).update(redirect_url="https://bakery.SHOPS.example:443/cb")
    answer = developer(dana).post(f"/developer/apps/{app.pk}/submit", {}, content_type=JSON)
    assert answer.status_code == 400
    assert [detail["field"] for detail in answer.json()["details"]] == ["redirectUrl"]


@pytest.mark.attack("origin of a shop's page")
def test_page_of_a_stranger_reads_what_a_shop_shows(connected: ConnectedStore) -> None:
    for origin in ("https://evil.example", "null"):
        answer = Client().get(f"/placements/{connected.business_id}", headers={"origin": origin})
        assert (answer.status_code, answer.get("Access-Control-Allow-Origin")) == (403, None)


@pytest.mark.attack("page of a shop in a frame")
def test_shop_has_a_page_of_ours_framed_in_the_page_editor(connected: ConnectedStore, settings: Any) -> None:
    """A frame of our own origin would escape its sandbox."""
    settings.BASE_URL = "https://platform.example"
    page = SitePage.objects.create(business=connected.business, slug="own", url=f"{settings.BASE_URL}/x")
    answered = Exchange(200, {}, b"", truncated=False, duration_ms=1, error_class=None)
    assert not is_framable(page, Seen(page.url, answered))


@pytest.fixture
def connected(db: None) -> ConnectedStore:
    values = {"name": "Northwind", "currency": "USD", "storefront_url": "https://northwind.example/"}
    return open_store(system=connect(name="Northwind").system, external_id="main", values=values)


@pytest.mark.attack("sandbox stores only for listeners")
@pytest.mark.django_db(transaction=True)
def test_listener_reads_the_orders_of_a_merchant(
    dana: User, app: App, installation: Installation, shop: Business
) -> None:
    """Dana listens for her app on her sandbox, and waits for what happens in Mira's shop, which has the app, too."""
    factories.approve(app)
    helpers.webhook(factories.installation(app, shop), "http://127.0.0.1:9/", ["order.created"])
    path = f"/developer/apps/{app.id}/listener"
    listener = developer(dana).post(path, {}, content_type=JSON).json()["listenerId"]
    DispatcherSlot.objects.filter(pk=listener).update(seen_at=Now() + timedelta(hours=1))
    helpers.published(shop)
    helpers.drain()
    work = developer(dana).post(f"{path}/{listener}/work", {"wait": 0}, content_type=JSON).json()
    assert work["deliveries"] == []

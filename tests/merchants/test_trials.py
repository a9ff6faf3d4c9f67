"""Trying an app on a copy of one's own store (contract, section 21)."""

import gzip
import re
from base64 import urlsafe_b64decode
from datetime import timedelta
from typing import Any

import orjson
import pytest
import time_machine
from django.db.models.signals import post_save
from django.test import Client
from django.utils import timezone

from accounts.enums import StoreRole
from accounts.models import Business, Mail, User
from accounts.services.sender import send_due
from appapi.services.exports import make_exports
from conformance.services import runs
from extensions.services.extension_states import add_block
from extensions.services.manifests import save_manifest
from installations.models import Installation, Trial
from installations.services import lifecycle
from marketplace import listing
from marketplace.models import App
from stores.enums import OrderStatus, PaymentStatus
from stores.models import Order, Product, SitePage
from stores.services.orders import change_order_status
from tests import factories
from tests.config.scraping import operator as operator
from tests.config.scraping import value
from tests.extensions.manifests import admin_page, block, hook, widget
from tests.forms import form_at, send
from tests.installations import oauth_client
from tests.installations.oauth_client import SECRET, address, sent_to
from tests.merchants.pages import listed_app
from tests.pages import main_words_of, signed_in
from tests.receivers import Answer, Receiver
from tests.storefront.shopping import Shopper
from tests.threads import at_once
from tests.webhooks.helpers import drain, wait_for_feed
from teststores import tasks, trials
from webhooks.models import Erasure

SPEC = pytest.mark.spec("Contract 21 Trials", "Try it on a copy")
SCHEMA = {
    "type": "object",
    "properties": {"color": {"type": "string", "enum": ["red", "blue"]}, "size": {"type": "integer"}},
}
PERSONAL = ["Zelda Quist", "zelda@quist.example", "+4915112345678", "Sesame Street 1", "Ring twice, please"]


@pytest.fixture
def app(dana: User) -> App:
    return listed_app(
        dana,
        ["read_business", "read_products", "read_orders", "write_orders"],
        name="Order Bell",
        webhook_url="https://bell.example.com/",
        client_secret=SECRET,
    )


@pytest.fixture
def goods(shop: Business) -> list[Product]:
    return [factories.product(shop, name=f"Bread {number}", stock=5) for number in range(3)]


@pytest.fixture
def order(shop: Business, goods: list[Product]) -> Order:
    name, email, phone, where, note = PERSONAL
    made = factories.order(
        shop, customer_name=name, customer_email=email, customer_phone=phone, address=where, note=note,
        payment_method="bell:wallet", number="998877",
    )  # fmt: skip
    factories.payment(made, provider="bell", status=PaymentStatus.COMPLETED, invoice_id="INV-4711")
    return made


@pytest.fixture
def merchant(mira: User) -> Client:
    return signed_in(mira)


def ask(merchant: Client, app: App, **body: Any) -> Any:
    return merchant.post(f"/marketplace/{app.slug}/try/", body)


def tried(merchant: Client, app: App) -> Business:
    """The copy, after the first press."""
    asked = ask(merchant, app)
    assert asked.status_code == 302, asked.content
    trials.make_copies()
    to, query = sent_to(merchant.get(asked["Location"]))
    assert to == "/oauth/authorize"
    copy = Business.objects.get(copy_of__isnull=False)
    assert query["business_id"] == str(copy.pk)
    return copy


def agree(merchant: Client, app: App, store: Business, **body: str) -> tuple[str, dict[str, str]]:
    """Press **Install** on the consent page of a store; where that leads."""
    path = address(app, business_id=str(store.pk))
    page = merchant.get(path)
    assert page.status_code == 200, page.content
    return sent_to(
        merchant.post(path, {"scopes": " ".join(page.context["page"].scopes), "answer": "install"} | body)
    )


def install(merchant: Client, app: App, store: Business, **body: str) -> dict[str, Any]:
    """The same, with what the app gets for the code."""
    answer = oauth_client.exchange(app, agree(merchant, app, store, **body)[1]["code"])
    assert answer.status_code == 200, answer.content
    return dict(answer.json())


def as_app(token: str, path: str) -> Any:
    answer = oauth_client.call(token, path)
    assert answer.status_code == 200, answer.content
    return answer.json()


def press(merchant: Client, action: str, page: str = "/merchant/apps/") -> None:
    """The button of this address on a page."""
    assert send(merchant, form_at(merchant, page, action)).status_code == 302


def rows_of(store: Business) -> Any:
    return [list(model.objects.filter(business=store).order_by("pk").values()) for model in (Product, Order)]


@SPEC
def test_app_gets_a_test_install_with_products_and_made_up_people(
    app: App, shop: Business, merchant: Client, order: Order, goods: list[Product]
) -> None:
    factories.order(shop, customer_email="ZELDA@quist.example", customer_name="Z. Quist", number="998878")
    before = rows_of(shop)
    copy = tried(merchant, app)
    given = install(merchant, app, copy)
    token = given["access_token"]
    assert token.startswith("fbat_test_")
    assert as_app(token, "/app-api/installation")["isTestInstall"] is True
    business = as_app(token, "/app-api/business")
    assert (business["name"], business["isSandbox"], business["address"]) == (f"{shop.name} (copy)", True, "")
    products = as_app(token, "/app-api/products")["data"]
    assert [each["name"] for each in products] == ["Bread 2", "Bread 1", "Bread 0"]
    assert products[0]["stock"] == 5
    orders = as_app(token, "/app-api/orders")["data"]
    assert [each["amount"] for each in orders] == [each["amount"] / 100 for each in reversed(before[1])]
    assert len({each["customer"]["email"] for each in orders}) == 1  # one person stays one
    assert {each["paymentMethod"] for each in orders} == {"CASH"}
    received = str([business, products, orders]).casefold()
    known = [*PERSONAL, "Z. Quist", "998877", "998878", "INV-4711", str(order.pk), str(shop.pk)]
    known += [str(each.pk) for each in goods]
    assert [each for each in known if each.casefold() in received] == []
    as_app(token, f"/app-api/orders/{orders[0]['id']}")
    assert rows_of(shop) == before


@SPEC
@pytest.mark.long
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_nothing_of_an_order_reaches_the_app_in_any_way(
    app: App, dana: User, shop: Business, merchant: Client, order: Order, goods: list[Product], settings: Any
) -> None:
    """By webhooks, hooks, frames and their tokens, the API, the feed and an export."""
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True
    points = [
        "order.validate",
        "order.calculate_discounts",
        "checkout.shipping_rates",
        "checkout.payment_methods",
    ]
    with Receiver() as server:
        server.respond_with(Answer(body=b'{"valid": true, "discount": 100, "fee": 0, "methods": []}'))
        App.objects.filter(pk=app.pk).update(webhook_url=server.url)
        document = {
            "hooks": [hook(hookPoint=each) for each in points],
            "blocks": [block()],
            "embeds": [widget()],
            "adminPages": [admin_page()],
        }
        save_manifest(app=App.objects.get(pk=app.pk), developer=dana, document=document)
        factories.approve(App.objects.get(pk=app.pk))
        copy = tried(merchant, app)
        token = install(merchant, app, copy)["access_token"]
        here = Installation.objects.get(business=copy)
        page = SitePage.objects.create(business=copy, title="Stars", slug="stars", is_published=True)
        [placed] = [each for each in here.app.definitions.all() if each.key == "stars"]
        add_block(page=page, installation=here, definition=placed)

        shopper = Shopper(copy)
        seen = [shopper.see(""), shopper.see("pages/stars/"), shopper.see(f"session-tokens/?app={app.pk}")]
        shopper.take(Product.objects.filter(business=copy).first())
        assert shopper.place().status_code == 302
        frame = re.search(
            '<iframe class="app-page".*?>',
            merchant.get(f"/merchant/apps/{here.pk}/pages/overview/").content.decode(),
            re.DOTALL,
        )  # of the merchant's own page, what the app is given
        assert frame
        seen += [frame[0], merchant.get(f"/merchant/apps/{here.pk}/session-token/").content.decode()]
        first = as_app(token, "/app-api/orders")["data"][-1]
        api = Client(headers={"authorization": f"Bearer {token}"})
        moved = {"content_type": "application/json", "data": {"status": "CONFIRMED"}}
        assert api.patch(f"/app-api/orders/{first['id']}/status", **moved).status_code == 200
        drain()
        wait_for_feed()
        exported = api.post(
            "/app-api/exports", {"resource": "orders"}, content_type="application/json"
        ).json()
        make_exports()
        answers = [as_app(token, path) for path in (
            "/app-api/installation", "/app-api/business", "/app-api/products", "/app-api/orders",
            f"/app-api/orders/{first['id']}", "/app-api/events",
        )]  # fmt: skip
        file = api.get(f"/app-api/exports/{exported['id']}/file")
        sent = [each.head + each.body for each in server.requests]

    kinds = {orjson.loads(each.body).get("hookPoint") for each in server.requests}
    assert set(points) < kinds, "and webhooks"
    lines = gzip.decompress(file.getvalue())
    assert b"@example.com" in lines
    tokens = re.findall(r"eyJ[\w-]+\.([\w-]+)\.[\w-]+", str(seen))
    assert len(tokens) >= 2, "of the merchant's frame, and of the shopper's"
    claims = [urlsafe_b64decode(each + "==") for each in tokens]
    received = str([seen, answers, sent, lines, claims]).casefold()
    known = [*PERSONAL, "998877", "INV-4711", str(order.pk), str(shop.pk), *(str(each.pk) for each in goods)]
    assert [each for each in known if each.casefold() in received] == []


@SPEC
@pytest.mark.django_db(transaction=True)
def test_trial_counts_nowhere_and_no_mail_is_sent(
    app: App, shop: Business, merchant: Client, order: Order, mailoutbox: list[Any]
) -> None:
    def installs() -> int:
        return listing.listed().get(pk=app.pk).installs

    Mail.objects.all().delete()
    copy = tried(merchant, app)
    install(merchant, app, copy)
    shopper = Shopper(copy)
    shopper.take(Product.objects.filter(business=copy).first())
    assert shopper.place().status_code == 302
    placed = Order.objects.filter(business=copy).latest("id")
    change_order_status(order=placed, status=OrderStatus.CONFIRMED)
    send_due()
    assert (list(Mail.objects.all()), mailoutbox, installs()) == ([], [], 0)
    install(merchant, app, shop)
    assert installs() == 1


@SPEC
def test_copy_is_in_no_picker_and_shows_its_few_pages(
    app: App, shop: Business, merchant: Client, order: Order
) -> None:
    copy = tried(merchant, app)
    home = merchant.get("/merchant/", follow=True)
    assert home.redirect_chain[-1][0] == "/merchant/apps/"
    said = main_words_of(home)
    assert "This is a copy" in said
    assert "Back to my store" in said
    open_here = {path: merchant.get(f"/merchant/{path}").status_code for path in (
        "apps/", "orders/", "products/", "pages/", "customers/", "reviews/", "staff/", "store/", "businesses/",
    )}  # fmt: skip
    assert [path for path, status in open_here.items() if status == 200] == [
        "apps/",
        "orders/",
        "products/",
        "pages/",
    ]
    assert set(open_here.values()) == {200, 404}
    factories.business(shop.owner)
    assert f'value="{copy.pk}"' not in merchant.get("/merchant/apps/").content.decode()
    press(merchant, "/merchant/trial/back/")
    own = merchant.get("/merchant/", follow=True)
    assert "Open the copy" in main_words_of(own)
    assert "This is a copy" not in main_words_of(own)


@SPEC
@pytest.mark.parametrize("role", [*StoreRole, None])
def test_owner_and_managers_alone(
    app: App, shop: Business, merchant: Client, order: Order, role: StoreRole | None
) -> None:
    copy = tried(merchant, app)
    other = (
        factories.merchant_without_store("otto@example.com")
        if role
        else factories.merchant("eve@example.com")
    )
    if role and role != StoreRole.OWNER:
        factories.staff(shop, other, role)
    elif role:
        other = shop.owner
    browser = signed_in(other)
    may = role in (StoreRole.OWNER, StoreRole.MANAGER)
    assert browser.get(f"/merchant/orders/?store={copy.slug}").status_code == (200 if may else 404)
    page = browser.get(address(app, business_id=str(copy.pk)))
    assert (page.status_code == 200) == may
    row = Order.objects.get(business=copy)
    assert (browser.get(f"/merchant/orders/{row.pk}/").status_code == 200) == may


@SPEC
def test_no_product_installed_already_or_a_second_trial(
    app: App, dana: User, shop: Business, merchant: Client
) -> None:
    listing = f"/marketplace/{app.slug}/"
    assert "Try it on a copy" not in merchant.get(listing).content.decode()
    assert ask(merchant, app).status_code == 409
    factories.product(shop)
    assert "Try it on a copy" in merchant.get(listing).content.decode()
    assert "Try it on a copy" not in Client().get(listing).content.decode()
    assert ask(merchant, app).status_code == 302
    refused = ask(merchant, app)
    assert refused.status_code == 409
    assert "End the trial" in refused.content.decode()
    assert merchant.post("/merchant/trial/end/").status_code == 302
    factories.installation(app, shop)
    assert "Try it on a copy" not in merchant.get(listing).content.decode()
    assert ask(merchant, app).status_code == 409
    assert trials.make_copies() == 0


@SPEC
def test_fifty_on_the_platform(
    app: App, shop: Business, merchant: Client, mira: User, monkeypatch: Any
) -> None:
    factories.product(shop)
    monkeypatch.setattr(trials, "MOST", 1)
    other = factories.business(mira)
    Trial.objects.create(app=app, store=other, asked_by=mira)
    answer = ask(merchant, app, business=str(shop.pk))
    assert answer.status_code == 503
    assert Trial.objects.filter(store=shop).count() == 0


@SPEC
@pytest.mark.django_db(transaction=True)
def test_one_run_makes_all_copies_also_those_asked_for_meanwhile(
    app: App, shop: Business, mira: User
) -> None:
    """Fifty presses send fifty messages. If each worker read all stores that wait, no copy would be there within a minute."""
    other = factories.business(mira)
    for store in (shop, other):
        factories.product(store)
    trials.start(app=app, store=shop, person=mira)
    beside: list[int] = []

    def elsewhere() -> None:
        """Another request, and another worker."""
        trials.start(app=app, store=other, person=mira)
        tasks.make_copies()
        beside.append(Trial.objects.filter(store=other, copy__isnull=False).count())

    def press_again(instance: Business, created: bool, **kwargs: Any) -> None:
        if created and instance.copy_of_id == shop.pk:
            at_once(elsewhere)

    post_save.connect(press_again, sender=Business)
    try:
        tasks.make_copies()
    finally:
        post_save.disconnect(press_again, sender=Business)
    assert beside == [0]
    assert Trial.objects.filter(copy__isnull=False).count() == 2


def test_operator_sees_how_many_wait_and_are_open(
    app: App, shop: Business, merchant: Client, mira: User, operator: Client
) -> None:
    other = factories.business(mira)
    for store in (shop, other):
        factories.product(store)
    ask(merchant, app, business=str(shop.pk))
    trials.make_copies()
    ask(merchant, app, business=str(other.pk))
    figures = [f'extension_platform_trials{{state="{state}"}}' for state in ("waiting", "open")]
    assert [value(operator, each) for each in figures] == [1, 1]


@SPEC
def test_after_a_minute_nothing_is_made(app: App, shop: Business, merchant: Client) -> None:
    factories.product(shop)
    waiting = ask(merchant, app)["Location"]
    assert "Copying" in main_words_of(merchant.get(waiting))
    with time_machine.travel(timezone.now() + timedelta(seconds=61)):
        assert "nothing was made" in main_words_of(merchant.get(waiting))
        assert trials.make_copies() == 0
        trials.end_due()
        assert ask(merchant, app).status_code == 302
    assert not Business.objects.filter(copy_of__isnull=False).exists()


@SPEC
def test_another_app_is_a_conflict(
    app: App, dana: User, shop: Business, merchant: Client, order: Order
) -> None:
    copy = tried(merchant, app)
    other = listed_app(
        dana, ["read_products"], name="Other", redirect_url="https://other.example.com/callback"
    )
    assert merchant.get(address(other, business_id=str(copy.pk))).status_code == 409


@SPEC
def test_cancel_ends_it(app: App, shop: Business, merchant: Client, order: Order) -> None:
    copy = tried(merchant, app)
    merchant.post(address(app, business_id=str(copy.pk)), {"answer": "cancel"})
    assert Trial.objects.get().ended_at
    trials.end_due()
    runs.remove_ended()
    assert not Business.objects.filter(pk=copy.pk).exists()


@SPEC
@pytest.mark.parametrize("way", ["time", "hand", "uninstall", "install", "suspension"])
def test_end_asks_for_erasure_at_once_and_leaves_nothing(
    app: App, shop: Business, merchant: Client, order: Order, way: str
) -> None:
    copy = tried(merchant, app)
    install(merchant, app, copy)
    here = Installation.objects.get(business=copy)
    now = timezone.now()
    match way:
        case "time":
            now += timedelta(hours=24, seconds=1)
        case "hand":
            press(merchant, "/merchant/trial/end/")
        case "uninstall":
            lifecycle.uninstall(installation=here, by=shop.owner)
        case "install":
            install(merchant, app, shop)
        case "suspension":
            App.objects.filter(pk=app.pk).update(suspended_at=now)
    with time_machine.travel(max(now, timezone.now()), tick=False):
        trials.end_due()
        erasure = Erasure.objects.get(installation=here)
        assert erasure.due_at <= timezone.now()
        assert not Order.objects.filter(business=copy).exists()
        assert not Product.objects.filter(business=copy).exists()
        runs.remove_ended(now=timezone.now() + timedelta(seconds=1))
        assert Business.objects.filter(pk=copy.pk).exists()  # its erasure may have to be tried again
        Erasure.objects.update(state="CONFIRMED")
        runs.remove_ended(now=timezone.now() + timedelta(seconds=1))
        assert not Business.objects.filter(pk=copy.pk).exists()
        assert not Trial.objects.exists()
    assert Order.objects.filter(business=shop).count() == 1


@SPEC
def test_settings_of_the_trial_go_along_if_wanted(
    app: App, dana: User, shop: Business, merchant: Client, order: Order
) -> None:
    save_manifest(app=App.objects.get(pk=app.pk), developer=dana, document={"settingsSchema": SCHEMA})
    factories.approve(App.objects.get(pk=app.pk))
    copy = tried(merchant, app)
    install(merchant, app, copy)
    Installation.objects.filter(business=copy).update(settings={"color": "red", "size": "large", "gone": 1})
    page = main_words_of(merchant.get(address(app, business_id=str(shop.pk))))
    assert "Take over the settings of the trial" in page
    assert "gone, size" in page or "size, gone" in page
    install(merchant, app, shop, take_settings="on")
    assert Installation.objects.get(business=shop).settings == {"color": "red"}


@SPEC
def test_settings_stay_where_they_are_without_the_tick(
    app: App, dana: User, shop: Business, merchant: Client, order: Order
) -> None:
    save_manifest(app=App.objects.get(pk=app.pk), developer=dana, document={"settingsSchema": SCHEMA})
    factories.approve(App.objects.get(pk=app.pk))
    copy = tried(merchant, app)
    install(merchant, app, copy)
    Installation.objects.filter(business=copy).update(settings={"color": "red"})
    install(merchant, app, shop)
    assert Installation.objects.get(business=shop).settings == {}

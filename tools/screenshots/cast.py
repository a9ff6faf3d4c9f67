"""What the pictures of `tools.screenshots` show: people, shops and apps in every state.

Nothing is imported before `seed` is called, since Django is set up on a database of the run's own first.
"""

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"

BAD_MANIFEST = """{
  "blocks": [{ "blockType": "stars", "name": "Star rating", "renderURL": "http://127.0.0.1:9/block" }],
  "hooks": [{ "hookPoint": "checkout.shipping_rate", "url": "/hooks/rates", "timeout": 60000 }]
}"""
OTHER_MANIFEST = """{
  "blocks": [
    { "blockType": "stars", "name": "Ratings", "category": "Reviews", "renderUrl": "http://127.0.0.1:9/block" },
    { "blockType": "badge", "name": "Trust badge", "renderUrl": "http://127.0.0.1:9/badge" }
  ],
  "hooks": [{ "hookPoint": "order.calculate_discounts", "url": "/hooks/discounts" }]
}"""


def seed(app_url: str) -> SimpleNamespace:
    """The cast, made by the services that users reach. `app_url` is where an app's frames come from.

    Dana is a developer with an app in each state, Sam one without, Mira has a shop, Rae reviews.
    """
    from accounts.enums import Role
    from accounts.models import User
    from accounts.services import create_reviewer, register

    def person(name: str, role: Role, **fields: Any) -> User:
        email = f"{name.split()[0].lower()}@example.com"
        return register(email=email, password="correct horse battery", name=name, role=role, **fields).user

    dana = person("Dana Okafor", Role.DEVELOPER)
    rae = create_reviewer(email="rae@example.com", name="Rae Ito")
    mira = person("Mira Santos", Role.MERCHANT, business_name="Harbour Bakery")
    noor = person("Noor Haddad", Role.MERCHANT, business_name="Corner Flowers")
    apps = apps_of(dana, rae)
    at_shop = apps_at(mira, dana)
    made = SimpleNamespace(
        store=storefront(dana, mira),
        rates=asked_at_checkout(dana, at_shop["working"]),
        desk=on_the_desk(dana),
        dana=dana,
        noor=noor,
        noors_shop=asked_for_more(apps["till"], noor),
        sam=person("Sam Lindqvist", Role.DEVELOPER),
        theo=with_second_factor(person("Theo Marchetti", Role.DEVELOPER)),
        mira=mira,
        tom=person("Tom Adeyemi", Role.MERCHANT, business_name="Adeyemi Books"),
        framed=framed(dana, person("Lena Vogel", Role.MERCHANT, business_name="Vogel Ceramics"), app_url),
        at_shop=at_shop,
        rae=rae,
        **apps,
        **listed_apps(mira),
        **reviews_of(person("Ines Faro", Role.DEVELOPER), rae),
    )
    without_embeds(made.store["shop"])
    return made


def with_second_factor(user: Any) -> Any:
    from tests.accounts.second_factor import set_up_app

    set_up_app(user)
    return user


def without_embeds(shop: Any) -> None:
    """No picture of a store asks the hosts that example manifests name."""
    from extensions.embeds_and_blocks import embeds_on
    from extensions.models import Definition
    from extensions.services.extension_states import switch_extensions

    for each in embeds_on(shop):
        definition = Definition.objects.get(pk=each.embed.id)
        switch_extensions(installation=each.installation, definitions=[definition.pk], is_on=False)


def storefront(developer: Any, merchant: Any) -> dict[str, Any]:
    """A sandbox store, an empty one, and orders of shoppers in each state of their payment, by their page's key."""
    from django.utils import timezone

    from accounts.models import Business
    from stores.hookpoints import Discount, PaymentDetails, PaymentMethod, filled
    from stores.models import Product
    from stores.services.payments import expire_payments, settle_payment
    from stores.services.storefront import place_once
    from tests.factories import order_request

    shop = Business.objects.sandbox_of(developer)
    bread, cake = (
        Product.objects.get(business=shop, slug=slug)
        for slug in ("butter-croissant", "birthday-cake-to-order")
    )
    soon = timezone.now() + timedelta(minutes=14)
    method = PaymentMethod("pay:wallet", "Harbour Wallet", "pay", "Pay with your phone.")
    details = {
        "waiting": PaymentDetails(
            "https://pay.example.com/i/1", "wallet://pay?i=1&a=45.60", "INV-2041", soon
        ),
        "paid": PaymentDetails("https://pay.example.com/i/2", invoice_id="INV-2042", expires_at=soon),
        "expired": PaymentDetails("https://pay.example.com/i/3", expires_at=timezone.now()),
        "failed": None,
    }

    def order(name: str, **fields: Any) -> str:
        key = name.ljust(32, "x")
        request = order_request(
            (bread, 2), (cake, 1),
            **{"customer_name": "Grace Okafor", "customer_email": "grace@example.com"} | fields,
        )  # fmt: skip
        placed = place_once(business=shop, key=key, request=request, offered=[method])
        if name == "paid":
            settle_payment(order=placed, provider="pay", status="COMPLETED")
        return key

    keys = {}
    with filled("order.calculate_discounts", lambda question: Discount(456, "Ten stars: a treat on us")):
        address = {
            "delivery_method": "DELIVERY",
            "address": "5 Orchard Close\nUpper Portside",
            "note": "Sliced, please.",
        }
        keys["cash"] = order("cash", **address)
        for name, answer in details.items():
            with filled("checkout.create_payment", lambda question, answer=answer: answer):
                keys[name] = order(name, payment_method=method.id)
    expire_payments()
    return {"shop": shop, "orders": keys}


FRAME = """<!doctype html><html lang="en"><title>{title}</title>
<style>body {{ margin: 0; padding: 20px; font: 15px/1.5 system-ui; color: #14281d; background: {ground}; }}
h1 {{ margin: 0 0 4px; font-size: 18px; }} p {{ margin: 0; }}</style>
<h1 id="title">{title}</h1><p>{text}</p>
<script type="module">
import {{ connectBlock, followHeight }} from "/sdk.js";
const show = (settings) => {{ if (settings.title) document.getElementById("title").textContent = settings.title; }};
followHeight(connectBlock({{ platformOrigin: "PLATFORM", storesOrigin: "STORES", onSettings: show }}), document.body);
</script></html>"""
FRAMES = {
    "/wall": FRAME.format(title="From our customers", ground="#eef7f1", text="“The glaze is even lovelier by daylight.” — Ruth"),
    "/hours": FRAME.format(title="Opening hours", ground="#fbf4e6", text="Tuesday to Saturday, 10 to 18 h"),
    "/chat": FRAME.format(title="Ask the potter", ground="#eef1fb", text="We answer within the hour."),
    "/summary": FRAME.format(title="This week", ground="#ffffff", text="12 visits, 3 new reviews, 1 question."),
}  # fmt: skip


def framed(developer: Any, merchant: Any, app_url: str) -> dict[str, Any]:
    """A shop with an app of every kind of frame, on a page with two blocks."""
    from accounts.models import Business
    from extensions.enums import ExtensionType
    from extensions.services.extension_states import switch_extensions
    from extensions.services.placements import add_block
    from stores.services.pages import create_page
    from tests.extensions.cast import define
    from tests.merchants.pages import installed, listed_app

    shop = Business.objects.main_of(merchant)
    app = listed_app(developer, ["read_reviews"], name="Kind Words", slug="kind-words")
    title = {"type": "string", "title": "Title", "maxLength": 60, "description": "Above the quotes."}
    color = {"type": "string", "format": "color", "title": "Colour", "default": "#14532d"}
    count = {"type": "integer", "title": "How many", "minimum": 1, "maximum": 10, "default": 3}
    schema = {"type": "object", "properties": {"title": title, "color": color, "count": count}}
    wall = define(
        app, ExtensionType.BLOCK, "wall", name="Quote wall", iconName="message-circle", renderUrl=f"{app_url}/wall",
        description="What customers say, one quote at a time.", settingsSchema=schema,
    )  # fmt: skip
    hours = define(
        app, ExtensionType.BLOCK, "hours", name="Opening hours", iconName="calendar", category="Shop",
        description="When the shop is open.", renderUrl=f"{app_url}/hours",
    )  # fmt: skip
    chat = {"name": "Ask the potter", "description": "A place to ask.", "settingsSchema": schema}
    define(app, ExtensionType.EMBED, "chat", renderUrl=f"{app_url}/chat", **chat)
    pixel = {"kind": "GLOBAL_SCRIPT", "position": "head", "scriptUrl": f"{app_url}/sdk.js"}
    script = define(
        app, ExtensionType.EMBED, "count", name="Visit counter", description="Counts visits.", **pixel
    )
    define(app, ExtensionType.ADMIN_PAGE, "summary", title="This week", renderUrl=f"{app_url}/summary")
    installation = installed(app, shop)
    switch_extensions(installation=installation, definitions=[script.pk], is_on=False)
    text = (
        "<p>Stoneware, thrown and fired in our own yard since 1998.</p><h2>Visit us</h2><p>Mill Lane 4.</p>"
    )
    page = create_page(business=shop, title="About the pottery", content=text)
    placed = [add_block(page=page, installation=installation, definition=each) for each in (wall, hours)]
    return {
        "shop": shop,
        "page": page,
        "block": placed[0],
        "installation": installation,
        "chat": app.definitions.get(key="chat"),
    }


def on_the_desk(developer: Any) -> dict[str, Any]:
    """What the merchant's pages show of the sandbox: orders, a product, a review, a page."""
    from accounts.models import Business
    from common.secrets import digest
    from stores.models import Order, Product, Review, SitePage

    shop = Business.objects.sandbox_of(developer)

    def placed(name: str) -> Order:
        return Order.objects.get(business=shop, page_key_digest=digest(name.ljust(32, "x")))

    unheard = placed("cash")
    unheard.validation = "NOT_VALIDATED"
    unheard.save()
    return {
        "unheard": unheard,
        "paid": placed("paid"),
        "cancelled": Order.objects.filter(business=shop, status="CANCELLED").latest("id"),
        "product": Product.objects.get(business=shop, slug="almond-croissant"),
        "review": Review.objects.filter(business=shop, rating=1).latest("id"),
        "page": SitePage.objects.get(business=shop, slug="about"),
    }


def asked_for_more(app: Any, merchant: Any) -> Any:
    """The first of a merchant's two shops, where the app asks for more than it was given."""
    from accounts.models import Business
    from accounts.services import create_business
    from installations.services import install

    shop = Business.objects.get(owner=merchant)
    create_business(owner=merchant, name="Market Stall")
    install(
        app=app,
        business=shop,
        installed_by=merchant,
        is_test=False,
        granted_scopes=["read_products", "read_orders"],
    )
    return shop


def asked_at_checkout(developer: Any, at_shop: Any) -> Any:
    """An app with hooks that do well, badly and not at all, behind a server that answers; hooks at a merchant's shop."""
    from extensions.enums import CallOutcome
    from installations.services import test_install
    from tests import factories
    from tests.hook_calls import stop, week
    from tests.receivers import Answer, Receiver

    receiver = Receiver()
    receiver.__enter__()  # as long as the process lives
    receiver.respond_with(
        Answer(
            body=b'{"methods": [{"id": "wallet", "name": "Wallet", "icon": "http://pay.example.com/wallet.png"},'
            b' {"id": "later", "description": "Pay in 30 days"}]}',
            delay=0.2,
        )
    )
    rates = factories.app(developer, name="Parcel Rates", slug="parcel-rates", webhook_url=receiver.url)
    sandbox = test_install(app=rates, developer=developer).installation
    factories.hook(rates, "checkout.payment_methods", url="checkout/methods")
    late, skipped = [CallOutcome.TIMEOUT] * 5, [CallOutcome.BREAKER_OPEN] * 2
    for app, installation in ((rates, sandbox), (at_shop.app, at_shop)):
        fee = factories.hook(app, "checkout.shipping_rates", url="checkout/fee", priority=20)
        week(installation, fee, *late, *skipped, fallback="The store's own fee was kept.")
        stop(installation, fee)
        check = factories.hook(app, "order.validate", url="orders/check", timeout=2000)
        wrong = (CallOutcome.UNEXPECTED, CallOutcome.HTTP_ERROR)
        week(installation, check, *wrong, fallback="The order was accepted without this app's check.")
        week(installation, factories.hook(app, "order.calculate_discounts", url="discount"))
    return rates


def apps_of(developer: Any, rae: Any) -> dict[str, Any]:
    """Apps: installed for test with pictures, new with a long name, approved, in review, rejected beside a live version."""
    from django.utils import timezone

    from installations.services import test_install, test_uninstall
    from marketplace.models import App
    from marketplace.scopes import SCOPES
    from marketplace.services.apps import create_app, update_app
    from marketplace.services.pictures import decode
    from marketplace.services.reviews import submit
    from tests import factories
    from tests.deliveries import OK, delivery, one_of_each
    from tests.pictures import picture, upload
    from webhooks.enums import DeliveryStatus

    def make(name: str, slug: str, category: str, **fields: Any) -> App:
        defaults = {
            "description": "Gives your customers a star for every order, and a treat for every ten stars.",
            "scopes": list(SCOPES),
            "redirect_url": "https://app.example.com/oauth/callback",
        }
        return create_app(
            developer=developer, name=name, slug=slug, category=category, **(defaults | fields)
        ).app

    long_name = "Parcel quotes with a name that goes on for as long as eighty characters allow it"
    stars = make("Loyalty Stars", "loyalty-stars", "loyalty", webhook_url="http://127.0.0.1:9/hooks")
    parcels = make(long_name, "parcel-quotes", "shipping", scopes=["read_orders"])
    till = make("Till Bridge", "till-bridge", "pos", version="1.4.0")
    wall = make("Review Wall", "review-wall", "marketing")
    shown = [decode(upload(picture(size=size))) for size in ((800, 500), (400, 600))]
    update_app(app=stars, changes={"icon": decode(upload()), "screenshots": shown})
    installation = test_install(app=stars, developer=developer).installation
    reason = "The new till prints reviews on the receipt, and books orders by itself."
    approved = factories.approve(till, scope_reason=reason)
    type(approved).objects.update(approved_at=timezone.now() - timedelta(days=17))
    first_save = manifests_of(developer, stars, till, wall)
    submit(app=wall, developer=developer, how_to_test="Leave a review in the shop.\nIt appears on the wall.")
    chat = reviewed(make("Corner Chat", "corner-chat", "communication", scopes=["read_orders"]), rae)
    test_install(app=chat, developer=developer)
    test_install(app=wall, developer=developer)
    test_uninstall(app=wall, developer=developer)
    sent = one_of_each(installation)
    worked_at = timezone.now() - timedelta(days=3)
    delivery(sent["failing_webhook"], DeliveryStatus.SUCCEEDED, OK, created_at=worked_at)
    received(installation)
    installed_and_sent(till)
    test_install(app=till, developer=developer)
    test_uninstall(app=till, developer=developer)
    sent["calls"] = logged_calls(installation)
    made = {"stars": stars, "parcels": parcels, "till": till, "wall": wall, "chat": chat}
    return made | {"sent": sent, "on_sandbox": installation, "first_save": first_save}


def received(installation: Any) -> None:
    """An inbox with entries that were answered in several ways. No dispatcher runs here, so the rows are made plainly."""
    from django.utils import timezone

    from common.ids import id_at
    from tests.webhooks.helpers import webhook as registered
    from webhooks import catalogue, message
    from webhooks.models import Event, Inbox, InboxEntry
    from webhooks.services import inboxes

    inbox = Inbox.objects.create(app=installation.app, key="an-inbox-of-the-cast")
    webhook = registered(installation, inboxes.url_of(inbox), inboxes.wanted_events(installation))
    answers = {
        "review.created": "ERROR",
        "order.created": "OK",
        "product.out_of_stock": "SLOW",
        "order.delivered": "OK",
    }
    for number, (name, answer) in enumerate(answers.items()):
        at = timezone.now() - timedelta(minutes=30 - number)
        event = Event(type=name, business_id=installation.business_id, occurred_at=at)
        event.data = orjson_text(catalogue.EVENTS[name].example)
        sent = message.compose(
            event=event, delivery_id=id_at(at), webhook_id=webhook.pk, url=webhook.url,
            secret=installation.webhook_secret, now=at,
        )  # fmt: skip
        InboxEntry.objects.create(
            id=id_at(at), inbox=inbox, delivery_id=id_at(at), event_type=name, headers=titled(sent.headers),
            body=sent.body.decode(), answer=answer, received_at=at,
        )  # fmt: skip


def orjson_text(data: Any) -> str:
    import orjson

    return orjson.dumps(data).decode()


def titled(headers: Any) -> dict[str, str]:
    """Headers as Django names them."""
    return {name.title(): value for name, value in headers.items()}


def logged_calls(installation: Any) -> Any:
    """Calls by the app with its token, by what they got. Real ones, written as the log writes them."""
    import json

    from django.conf import settings
    from django.test import Client

    from activity import log
    from activity.models import ApiCall
    from installations.models import Installation
    from installations.services.lifecycle import issue_token
    from stores.models import Product

    token = issue_token(installation=installation).access_token
    host = settings.BASE_URL.partition("://")[2]
    api = Client(headers={"Authorization": f"Bearer {token}", "Host": host})
    product = Product.objects.filter(business=installation.business, stock=None, is_available=True).first()
    order = {
        "items": [{"productId": str(product.pk), "quantity": 2}],
        "customer": {"name": "Grace Okafor", "email": "grace@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }

    def post(body: Any, **headers: str) -> Any:
        return api.post("/app-api/orders", json.dumps(body), content_type="application/json", headers=headers)

    Installation.objects.filter(pk=installation.pk).update(narrowed_scopes=installation.app.scopes[:-1])
    answers = {
        "order": post(order, **{"Idempotency-Key": "cart-4711"}),
        "invalid": post(order | {"deliveryMethod": "TELEPORT", "items": []}),
        "missing": api.get("/app-api/products/00000000-0000-7000-8000-000000000000"),
        "forbidden": api.get(_path_of(installation.app.scopes[-1])),
    }
    for number in range(57):
        limited = api.get("/app-api/products?limit=5" if number % 9 else "/app-api/orders?status=PENDING")
    Installation.objects.filter(pk=installation.pk).update(narrowed_scopes=None)
    log.flush()
    ids = {name: answer["X-Request-Id"] for name, answer in answers.items()} | {
        "limited": limited["X-Request-Id"]
    }
    return {name: ApiCall.objects.get(pk=each) for name, each in ids.items()}


def _path_of(scope: str) -> str:
    """An endpoint that needs a scope."""
    from marketplace.scopes import SCOPES

    return next(each for each in SCOPES[scope].endpoints if each.startswith("GET")).split()[1]


def manifests_of(developer: Any, stars: Any, till: Any, wall: Any) -> Any:
    """One of everything, and a history in which something was switched off; gives the first save of that."""
    from extensions.models import ManifestSave
    from extensions.services.manifests import save_manifest
    from tests.extensions.manifests import admin_page, block, full, hook, script

    def save(app: Any, document: dict[str, Any]) -> None:
        save_manifest(app=app, developer=developer, document=document)

    save(stars, full())
    save(wall, {"blocks": [block(name="Wall of reviews", category="Reviews", iconName="star")]})
    pages = [admin_page(title="Till", pageId="till")]
    save(till, {"adminPages": pages, "hooks": [hook(hookPoint="order.validate", url="/hooks/orders")]})
    save(till, {"adminPages": pages, "embeds": [script()]})
    return ManifestSave.objects.filter(app=till).order_by("id")[0]


def apps_at(merchant: Any, developer: Any) -> dict[str, Any]:
    """Installations on a merchant's shop: one that works, asks, is in trouble, has ended, was erased."""

    from django.utils import timezone

    from accounts.models import Business
    from accounts.services import create_business
    from installations.enums import HistoryKind
    from installations.models import Installation
    from installations.services import history, uninstall
    from marketplace.models import App
    from marketplace.services.apps import update_app
    from marketplace.services.pictures import decode
    from tests.extensions.settings import give_settings
    from tests.merchants.pages import ask_for_more, installed, listed_app
    from tests.pictures import upload
    from webhooks.enums import ErasureState
    from webhooks.models import Attempt, Delivery, Erasure, Webhook

    now = timezone.now()
    shop = Business.objects.main_of(merchant)
    Business.objects.filter(owner=merchant).update(
        timezone="Europe/Lisbon", address="1 Harbour Street, Portside"
    )
    create_business(owner=merchant, name="A second shop, on the other side of the river", currency="EUR")
    scopes = ["read_products", "read_orders", "read_business"]
    made: dict[str, Installation] = {}
    for state, name in {
        "asking": "Thank You Notes", "working": "Corner Stamps", "failing": "Stock Mirror",
        "ended": "Sunday Mailer", "erased": "Old Loyalty",
    }.items():  # fmt: skip
        app = listed_app(
            developer, scopes, name=name, slug=name.lower().replace(" ", "-"),
            webhook_url="https://app.example.com/hooks", version="1.2.0",
        )  # fmt: skip
        if state == "working":
            update_app(app=app, changes={"icon": decode(upload())})
            app.versions.update(icon=App.objects.get(pk=app.pk).icon)
            give_settings(app)
        made[state] = installed(app, shop, now=now - timedelta(days=40))
    reason = "Customers who leave a review get a note of thanks, and a voucher if you want them to have one."
    ask_for_more(made["asking"], [*scopes, "read_reviews", "write_orders"], reason)
    history.record(
        installation=made["asking"],
        kind=HistoryKind.NEEDS_RECONSENT,
        at=now,
        note="read_reviews, write_orders",
    )
    Installation.objects.filter(business=shop).update(last_used_at=now - timedelta(minutes=12))
    Webhook.objects.filter(installation=made["failing"]).update(failing_since=now - timedelta(hours=30))
    uninstall(installation=made["ended"], by=merchant, now=now - timedelta(hours=1))
    uninstall(installation=made["erased"], by=merchant, now=now - timedelta(days=9))
    asked, confirmed = now - timedelta(days=7), now - timedelta(days=7, seconds=-31)
    delivery = Delivery.objects.get(webhook__installation=made["erased"])
    for number, (at, status) in enumerate(((asked, 503), (confirmed, 200)), start=1):
        Attempt.objects.create(
            delivery=delivery, number=number, attempted_at=at, http_status=status, duration_ms=80,
            error_class="" if status == 200 else "http_5xx",
        )  # fmt: skip
    Delivery.objects.filter(pk=delivery.pk).update(status="SUCCEEDED", due_at=None, finished_at=confirmed)
    Erasure.objects.filter(installation=made["erased"]).update(
        state=ErasureState.CONFIRMED, sent_at=asked, confirmed_at=confirmed
    )
    for kind, at, note in (
        (HistoryKind.ERASURE_SENT, asked, ""),
        (HistoryKind.ERASURE_CONFIRMED, confirmed, "Answered with 200"),
    ):
        history.record(installation=made["erased"], kind=kind, at=at, note=note)
    return made


def listed_apps(merchant: Any) -> dict[str, Any]:
    """Apps of the marketplace: one with pictures that the merchant has, and others with short and long words."""
    from accounts.enums import Role
    from accounts.models import Business
    from accounts.services import register
    from extensions.services.manifests import save_manifest
    from installations.services import lifecycle
    from marketplace.enums import Category
    from marketplace.models import App, AppTotals
    from marketplace.services.apps import create_app, update_app
    from marketplace.services.pictures import decode
    from tests import factories
    from tests.extensions.manifests import full, script, widget
    from tests.pictures import upload

    nora = register(
        email="nora@example.com",
        password="correct horse battery",
        name="Northwind Tools",
        role=Role.DEVELOPER,
    ).user

    def make(name: str, description: str, category: str, scopes: str, installs: int) -> App:
        app = create_app(
            developer=nora,
            name=name,
            slug="-".join(name.lower().replace(",", "").split()[:4]),
            description=description,
            category=category,
            scopes=scopes.split(),
            redirect_url="https://apps.example.com/callback",
        ).app
        AppTotals.objects.create(app=app, installs=installs)
        return app

    pages = [decode(upload((IMAGES / f"{name}.png").read_bytes())) for name in ("sample-app",)]
    about = (
        "Rings for every order: a page for the counter that shows what was ordered, and whether it is paid."
    )
    bell = make("Order Bell", about, Category.COMMUNICATION, "read_orders", 1203)
    update_app(app=bell, changes={"screenshots": [*pages, decode(upload())]})
    long_words = (
        "Asks four carriers for the price of each parcel, and offers your customers the two best. " * 3
    )
    quotes = make(
        "Quotes of four carriers by weight and distance, for shops that send many parcels",
        long_words[:300].strip(), Category.SHIPPING, "read_products read_orders write_orders read_business", 1_000_000,
    )  # fmt: skip
    ring = script(embedType="ring", name="Order sound", scriptUrl="https://apps.example.com/ring.js")
    document = full() | {"embeds": [ring, widget(name="Table service")]}
    save_manifest(app=quotes, developer=nora, document=document)
    shelf = make("Shelf Watch", "Says when to bake again.", Category.AUTOMATION, "read_products", 1)
    stamps = make("Stamp Card", "Ten coffees, one free.", Category.LOYALTY, "read_orders read_reviews", 0)
    for app in (bell, quotes, shelf, stamps):
        factories.approve(App.objects.get(pk=app.pk))
    shop = Business.objects.main_of(merchant)
    lifecycle.install(
        app=bell, business=shop, installed_by=merchant, is_test=False, granted_scopes=bell.scopes
    )
    return {"bell": bell, "quotes": quotes}


def reviewed(app: Any, reviewer: Any) -> Any:
    """The app after an approval, an approved update that changed a lot, and a rejected one."""
    from marketplace.services.apps import update_app
    from marketplace.services.pictures import decode
    from marketplace.services.reviews import approve, reject, submit
    from tests import factories
    from tests.pictures import picture, upload

    def update(**changes: Any) -> Any:
        update_app(app=app, changes=changes)
        reason = "The chat shows what a customer bought when they ask about it."
        return submit(app=app, developer=app.developer, scope_reason=reason)

    approve(submission=submit(app=app, developer=app.developer), reviewer=reviewer)
    second = update(
        version="1.1.0",
        name="Corner Chat for shops",
        scopes=["read_orders", "read_products", "read_business"],
        webhook_url="http://127.0.0.1:9/hooks",
        icon=decode(upload()),
        screenshots=[decode(upload(picture(size=(800, 500))))],
    )
    version = approve(submission=second, reviewer=reviewer)
    version.followed_at = version.approved_at
    version.save()
    for number in range(3):
        shop = factories.business(factories.merchant(f"shop-{number}@example.com"))
        factories.installation(app, shop, needs_reconsent=number > 0)
    third = update(
        version="1.2.0",
        description="Talk to people who are in your store right now, and see what they bought before.",
        scopes=["read_orders", "read_reviews", "read_business"],
        screenshots=[decode(upload(picture(size=(400, 600))))],
    )
    findings = {
        "functionality": {"verdict": "FAIL", "note": "The chat window never opens on a phone."},
        "security": {
            "verdict": "FAIL",
            "note": "A request with a bad signature got 200. Answer it with 401.",
        },
    }
    notes = "Nice idea.\n\nMend the two points above, then submit it again."
    reject(submission=third, reviewer=reviewer, notes=notes, findings=findings)
    return type(app).objects.get(pk=app.pk)


def installed_and_sent(app: Any) -> None:
    """A month of installs and deliveries, with a bad day."""
    from django.utils import timezone

    from tests import factories
    from webhooks.models import DailyDeliveryCount
    from webhooks.services.counting import DAYS

    now = timezone.now()
    mira = factories.merchant("chain@example.com")
    for number in range(42):
        left = now - timedelta(days=number % 29) if number % 6 == 5 else None
        at = now - timedelta(days=(number * number) % 44)
        factories.installation(
            app, factories.business(mira), installed_at=min(at, left or at), uninstalled_at=left
        )
    DailyDeliveryCount.objects.bulk_create(
        DailyDeliveryCount(
            app=app, date=(now - timedelta(days=day)).date(), successful=900 + 37 * (day % 7) + 5 * day,
            failed=310 if day == 11 else day % 5, answered=1000, duration_ms=84_000 + 900 * day,
        )
        for day in range(1, 2 * DAYS)
    )  # fmt: skip


def reviews_of(developer: Any, reviewer: Any) -> dict[str, Any]:
    """A submission in each state: new with a long name, an update with more scopes, held, decided; a suspended app."""
    from accounts.services import create_reviewer
    from developers.review.checks import run_checks
    from installations.services import test_install
    from marketplace.models import App
    from marketplace.services import findings, reviews
    from marketplace.services.apps import update_app
    from marketplace.services.pictures import decode
    from tests import factories
    from tests.pictures import picture, upload

    otto = create_reviewer(email="otto@example.com", name="Otto Weiss")

    def submitted(app: App, **fields: Any) -> Any:
        return reviews.submit(app=App.objects.get(pk=app.pk), developer=developer, **fields)

    def app(name: str, slug: str, **fields: Any) -> App:
        return factories.app(developer, name=name, slug=slug, category="sales", **fields)

    bell = app("Order Chime", "order-chime", scopes=["read_products", "read_pages"], version="1.4.0")
    test_install(app=bell, developer=developer)
    rejected = submitted(bell)
    reviews.reject(submission=rejected, reviewer=reviewer, notes="Add screenshots that show the app at work.")
    reviews.approve(submission=submitted(bell), reviewer=reviewer)
    shown = [decode(upload(picture(size=size))) for size in ((800, 500), (400, 600))]
    changes = {
        "name": "Order Chimes",
        "description": "Rings for every order, and says who has ordered what.",
        "scopes": ["read_products", "read_orders", "write_orders"],
        "version": "1.5.0",
        "webhook_url": "http://127.0.0.1:9/hooks",
        "icon": decode(upload(picture(size=(256, 256)))),
        "screenshots": shown,
    }
    update_app(app=bell, changes=changes)
    update = submitted(
        bell,
        how_to_test="Sign in as kim@example.com.\nPlace an order: the page rings.",
        scope_reason="To say who has ordered.",
    )
    run_checks(submission=update)
    verdicts = {"functionality": {"verdict": "PASS", "note": ""}}
    verdicts["security"] = {"verdict": "FAIL", "note": "The Webhook URL did not answer."}
    findings.record_findings(submission=update, reviewer=reviewer, findings=verdicts)
    held = submitted(app("Stock Watch", "stock-watch"))
    reviews.take(submission=held, reviewer=otto)
    approved = submitted(app("Gift Notes", "gift-notes"))
    findings.record_findings(submission=approved, reviewer=reviewer, findings=verdicts)
    reviews.approve(submission=approved, reviewer=reviewer, notes="Well made.")
    mailer = app("Mail Storm", "mail-storm")
    reviews.approve(submission=submitted(mailer), reviewer=otto)
    reviews.suspend(app=mailer, reviewer=reviewer, reason="Writes to customers who have not asked for it.")
    new = submitted(
        app("Table cards with a name that goes on for as long as eighty characters will allow", "cards")
    )
    submitted(app("Receipt Notes", "receipt-notes"))
    rounds = {"new": new, "update": update, "held": held, "approved": approved, "rejected": rejected}
    return {"mailer": mailer, "rounds": rounds}

"""What the pictures of `tools.screenshots` show: people, shops and apps in every state.

Nothing is imported before `seed` is called, since Django is set up on a database of the run's own first.
"""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from tools.screenshots.cast_apps import apps_of, asked_at_checkout, in_shadow
from tools.screenshots.cast_reviews import listed_apps, on_the_desk, reviews_of

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
        ada=operator(create_reviewer(email="ada@example.com", name="Ada Brandt")),  # without a test store
        **apps,
        **listed_apps(mira),
        shadow=in_shadow(dana, rae),
        **reviews_of(person("Ines Faro", Role.DEVELOPER), rae),
    )
    without_embeds(made.store["shop"])
    made.__dict__.update(
        members_of(made, person("Kim Novak", Role.DEVELOPER), person("Vera Ruiz", Role.DEVELOPER))
    )
    made.__dict__.update(staff_of(mira, person("Sofia Brandão", Role.MERCHANT, business_name="Brandão Tea")))
    return made


def operator(ada: Any) -> Any:
    """She sees the service levels, too, of a month with a bad hour."""
    from django.contrib.auth.models import Permission
    from django.utils import timezone

    from config.demo.history.levels import count_objectives

    count_objectives(now=timezone.now())
    ada.user_permissions.add(Permission.objects.get(codename="view_objectivecount"))
    return ada


def staff_of(mira: Any, sofia: Any) -> dict[str, Any]:
    """Mira's shop has a manager, somebody for its orders who has a store of her own, and two who are invited, one without an account."""
    from accounts.enums import StoreRole
    from accounts.models import Business, Staff, User
    from accounts.services import staff
    from tests import factories

    shop = Business.objects.main_of(mira)
    assert shop is not None
    pia = factories.merchant_without_store("pia@example.com", name="Pia Nilsen")
    factories.staff(shop, pia, StoreRole.ORDERS)
    factories.staff(shop, sofia, StoreRole.MANAGER)
    links = {}
    for name, email in (
        ("tom", "tom@example.com"),
        ("nobody", "rosalind.featherstonehaugh@long-company-name.example.com"),
    ):
        row = staff.invite(business=shop, by=mira, email=email, role="ORDERS")
        links[name] = staff.invitation_token(Staff.objects.get(pk=row.id))
    assert User.objects.filter(email="tom@example.com").exists()
    return {"pia": pia, "sofia": sofia, "staff_row": Staff.objects.get(user=sofia), "staff_links": links}


def members_of(cast: Any, kim: Any, vera: Any) -> dict[str, Any]:
    """Till Bridge has a developer, to whom it is offered, a viewer, and two people who are invited, one without an account."""
    from marketplace.enums import AppRole
    from marketplace.models import Membership
    from marketplace.services import members, transfers
    from tests import factories

    app, dana = cast.till, cast.dana
    made = {"kim": kim, "vera": vera, "membership": factories.member(app, kim)}
    factories.member(app, vera, AppRole.VIEWER)
    links = {}
    for name, email in (
        ("sam", cast.sam.email),
        ("nobody", "priya.raghunathan-subramaniam@long-company-name.example.com"),
    ):
        row = members.invite(app=app, by=dana, email=email, role="DEVELOPER")
        links[name] = members.invitation_token(Membership.objects.get(pk=row.id))
    transfers.offer(app=app, by=dana, email=kim.email)
    return made | {"links": links}


def with_second_factor(user: Any) -> Any:
    from tests.accounts.second_factor import set_up_app

    set_up_app(user)
    return user


def without_embeds(shop: Any) -> None:
    """No picture of a store asks the hosts that example manifests name."""
    from extensions.in_store.embeds_and_blocks import embeds_on
    from extensions.models import Definition
    from extensions.services.extension_states import switch_extensions

    for each in embeds_on(shop):
        definition = Definition.objects.get(pk=each.embed.id)
        switch_extensions(installation=each.installation, definitions=[definition.pk], is_on=False)


def storefront(developer: Any, merchant: Any) -> dict[str, Any]:
    """A sandbox store, an empty one, and orders of shoppers in each state of their payment, by their page's key."""
    from django.utils import timezone

    from accounts.models import Business
    from config.demo.people import dress_store
    from stores.enums import HookOutcome
    from stores.hookpoints import Asked, Discount, HookPart, PaymentDetails, PaymentMethod, registered
    from stores.models import Product
    from stores.services.payments import expire_payments, settle_payment
    from stores.services.storefront import place_once
    from tests.factories import order_request

    shop = Business.objects.sandbox_of(developer)
    dress_store(shop)
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

    def discount(question: Any) -> Asked[Discount]:
        point = question.point
        reason = "Ten stars: a treat on us"
        stars = HookPart(
            point=point,
            provider="1",
            app_name="Stars",
            outcome=HookOutcome.ANSWERED,
            amount=456,
            reason=reason,
        )
        stamps = HookPart(
            point=point,
            provider="2",
            app_name="Corner Stamps",
            outcome=HookOutcome.FAILED,
            instead="This app gave no discount.",
        )
        return Asked(Discount(456, reason), (stars, stamps))

    with registered("order.calculate_discounts", discount):
        address = {
            "delivery_method": "DELIVERY",
            "address": "5 Orchard Close\nUpper Portside",
            "note": "Sliced, please.",
        }
        keys["cash"] = order("cash", **address)
        for name, answer in details.items():
            with registered("checkout.create_payment", lambda request, answer=answer: answer):
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
    """A shop with an app of every kind of frame, on a page with two blocks. It sells a bowl."""
    from accounts.models import Business
    from extensions.enums import ExtensionType
    from extensions.services.extension_states import switch_extensions
    from extensions.services.placements import add_block
    from stores.services.catalogue.products import create_product
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
    create_product(business=shop, name="Bowl", slug="bowl", price=1900)
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


def asked_for_more(app: Any, merchant: Any) -> Any:
    """The first of a merchant's two shops, where the app asks for more than it was given."""
    from accounts.models import Business
    from accounts.services import create_business
    from installations.services import Terms, install

    shop = Business.objects.get(owner=merchant)
    create_business(owner=merchant, name="Market Stall")
    install(
        app=app,
        business=shop,
        installed_by=merchant,
        terms=Terms(is_test=False, granted_scopes=["read_products", "read_orders"]),
    )
    return shop


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

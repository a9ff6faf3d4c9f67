"""The apps of the cast that reviewers decide on, and those that the marketplace lists.

Like `tools.screenshots.cast`, it imports the project only inside functions.
"""

from pathlib import Path
from typing import Any

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"


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
        "unpaid": placed("expired"),
        "cancelled": Order.objects.filter(business=shop, status="CANCELLED").latest("id"),
        "product": Product.objects.get(business=shop, slug="almond-croissant"),
        "pictured": _with_pictures(Product.objects.get(business=shop, slug="birthday-cake-to-order")),
        "review": Review.objects.filter(business=shop, rating=1).latest("id"),
        "page": SitePage.objects.get(business=shop, slug="about"),
        "erased": _erased(shop),
    }


def _erased(shop: Any) -> Any:
    """One customer whom the store has erased. Another one could be: nothing of hers is open."""
    from stores.customers import Person
    from stores.services.customer_erasure import erase
    from tests import factories

    for name in ("ada", "bob"):
        factories.order(
            shop,
            number=name.upper(),
            status="DELIVERED",
            customer_name=f"{name.title()} Bell",
            customer_email=f"{name}@example.com",
        )
    return erase(business=shop, person=Person.of(email="bob@example.com"))


def _with_pictures(product: Any) -> Any:
    """A wide, a high and a square picture, of which one has a description."""
    from common.files.pictures import Decoded
    from stores.services.catalogue.product_pictures import PictureChanges
    from stores.services.catalogue.products import edit_product
    from tests.pictures import picture

    sizes = ((1600, 900), (600, 900), (700, 700))
    new = [Decoded(picture(size=size), "PNG", *size) for size in sizes]
    edit_product(product=product, stock_seen=product.stock, pictures=PictureChanges(new=new))
    first = product.pictures.first()
    first.alt = "A round cake with three layers and candles"
    first.save()
    return product


def listed_apps(merchant: Any) -> dict[str, Any]:
    """Apps of the marketplace: one with pictures that the merchant has, and others with short and long words."""
    from django.utils import timezone

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
    from tests.pictures import picture, upload
    from webhooks.models import DailyDeliveryCount

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
    update_app(
        app=bell,
        changes={
            "screenshots": [
                *pages,
                *(decode(upload(picture(size=size))) for size in ((1280, 800), (400, 700))),
            ],
            "screenshot_alts": ["The page for the counter, with three new orders."],
            "long_description": LONG_DESCRIPTION,
            "support_url": "help@apps.example.com",
            "privacy_url": "https://apps.example.com/privacy",
        },
    )
    today = timezone.now().date()
    DailyDeliveryCount.objects.create(
        app=bell, date=today, successful=1190, failed=4, answered=1194, duration_ms=214_000
    )
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
        app=bell,
        business=shop,
        installed_by=merchant,
        terms=lifecycle.Terms(is_test=False, granted_scopes=bell.scopes),
    )
    return {"bell": bell, "quotes": quotes}


LONG_DESCRIPTION = """Open one page on the tablet behind the counter. It rings when somebody orders, and shows:

- what was ordered, and for whom
- whether it is **paid**, picked up or delivered
- how long it has been waiting

## Made for busy mornings

Two people can use it at once: an order that one of them takes disappears from the other's page. Read the
[guide](https://apps.example.com/guide) for printers and sounds.
"""


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
        screenshots=[decode(upload(picture(size=(1280, 800))))],
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
    in_steps(version)
    return type(app).objects.get(pk=app.pk)


def in_steps(version: Any) -> None:
    """Its release in steps ended some hours ago, with the figures of a day and a half in which it worked a little worse."""
    from datetime import UTC, timedelta
    from math import sin

    from django.utils import timezone

    from installations.models import Installation
    from marketplace.models import Release

    def figures(calls: int, failed: int, p95: int) -> dict[str, Any]:
        return {"calls": calls, "failed": failed, "failureRate": failed / calls, "p95Ms": p95}

    hour = timezone.now().astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    history = [
        {
            "at": (hour - timedelta(hours=ago)).isoformat(),
            "new": figures(60, (2, 1, 1, 0)[ago // 3 % 4], 220 + round(40 * sin(ago / 3))),
            "old": figures(200, (3, 2, 0)[ago // 4 % 3], 190 + round(25 * sin(ago / 4))),
        }
        for ago in range(3, 36)
        if ago not in (11, 12)
    ]
    health = {"new": figures(2040, 34, 258), "old": figures(6800, 57, 214)}
    now = timezone.now()
    Release.objects.filter(version=version).update(
        mode="STEPS",
        started_at=now - timedelta(hours=35),
        ended_at=now - timedelta(hours=3),
        final_health={**health, "unit": "hour", "history": history},
    )
    Installation.objects.filter(app=version.app_id, is_test=False).update(
        installed_at=now - timedelta(days=3)
    )


def reviews_of(developer: Any, reviewer: Any) -> dict[str, Any]:
    """A submission in each state: new with a long name, an update with more scopes, held, decided; a suspended app."""
    from datetime import timedelta

    from django.utils import timezone

    from accounts.services import create_reviewer
    from developers.review.check_runs import run_checks
    from installations.services import test_install
    from installations.services.review_installs import review_install
    from marketplace.models import App
    from marketplace.services import findings, reviews
    from marketplace.services.apps import update_app
    from marketplace.services.pictures import decode
    from marketplace.services.review_messages import send_message
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
    shown = [decode(upload(picture(size=size))) for size in ((1280, 800), (400, 600))]
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
        release="STEPS",
        shadow=True,
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
    submitted(app("Receipt Notes", "receipt-notes"), now=timezone.now() - timedelta(days=4))
    review_install(app=new.app, reviewer=reviewer)
    for author, text in (
        (reviewer, "Which account do I sign in with, and where do the cards appear?"),
        (developer, "Sign in as kim@example.com.\nThe cards are under Tables, after the first order."),
    ):
        send_message(submission=new, author=author, text=text)
    rounds = {"new": new, "update": update, "held": held, "approved": approved, "rejected": rejected}
    return {"mailer": mailer, "rounds": rounds}

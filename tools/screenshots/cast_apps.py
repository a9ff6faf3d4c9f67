"""The apps of the cast: drafts, installs, what they were sent and what they called.

Like `tools.screenshots.cast`, it imports the project only inside functions.
"""

from datetime import timedelta
from typing import Any

from tools.screenshots.cast_reviews import reviewed


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
    shown = [decode(upload(picture(size=size))) for size in ((1280, 800), (400, 600))]
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
    converted = test_install(app=till, developer=developer).installation
    type(converted).objects.filter(pk=converted.pk).update(is_test=False, granted_scopes=["read_orders"])
    sent["calls"] = logged_calls(installation)
    made = {"stars": stars, "parcels": parcels, "till": till, "wall": wall, "chat": chat}
    return made | {"sent": sent, "on_sandbox": installation, "first_save": first_save}


def received(installation: Any) -> None:
    """An inbox with entries that were answered in several ways. No dispatcher runs here, so the rows are made plainly."""
    from django.utils import timezone

    from common.ids import id_at
    from tests.webhooks.helpers import webhook as registered
    from webhooks import catalogue
    from webhooks.messages import message
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


def in_shadow(developer: Any, reviewer: Any) -> Any:
    """An app whose second version is in one of five stores since yesterday, and asked in the shadow of the others, with two wrong answers."""
    from datetime import timedelta

    from django.utils import timezone

    from extensions.enums import CallOutcome
    from extensions.models import ShadowCall
    from installations.models import Installation
    from installations.services.approval import follow_all
    from marketplace.models import App, Release
    from marketplace.services.apps import update_app
    from marketplace.services.reviews import approve, submit
    from stores.hookpoints import HookPoint
    from tests import factories

    app = factories.app(
        developer, name="Harbour Discounts", slug="harbour-discounts", category="sales", version="2.0.0",
        webhook_url="http://127.0.0.1:9/hooks",
    )  # fmt: skip
    factories.hook(app, HookPoint.DISCOUNTS)
    approve(submission=submit(app=app, developer=developer), reviewer=reviewer)
    for number in range(5):
        shop = factories.business(
            factories.merchant(f"harbour-{number}@example.com"), name=f"Quay {number + 1} Coffee"
        )
        factories.installation(app, shop)
    app = App.objects.get(pk=app.pk)
    update_app(app=app, changes={"version": "2.1.0", "webhook_url": "http://127.0.0.1:9/hooks/new"})
    second = submit(app=App.objects.get(pk=app.pk), developer=developer, release="STEPS", shadow=True)
    version = approve(submission=second, reviewer=reviewer)
    follow_all()
    now = timezone.now()
    ended = Release.objects.get(
        version__app__slug="corner-chat", final_health__isnull=False
    )  # the same figures
    Release.objects.filter(version=version).update(
        started_at=now - timedelta(hours=22), step_at=now - timedelta(hours=22), watched_from=now - timedelta(hours=22),
        final_health=ended.final_health,
    )  # fmt: skip
    outside = list(Installation.objects.filter(app=app).exclude(followed_version=version).order_by("id"))
    wrong = {
        3: (CallOutcome.UNEXPECTED, 200, "discount: -250 is less than the minimum of 0"),
        17: (CallOutcome.TIMEOUT, None, ""),
    }
    for number in range(60):
        outcome, status, problem = wrong.get(number, (CallOutcome.ANSWERED, 200, ""))
        ShadowCall.objects.create(
            version=version, installation=outside[number % len(outside)], hook_point=HookPoint.DISCOUNTS,
            called_at=now - timedelta(minutes=20 * (60 - number)), outcome=outcome, http_status=status, problem=problem,
            duration_ms=2000 if outcome == CallOutcome.TIMEOUT else 120 + number % 9 * 12,
        )  # fmt: skip
    return app

"""What is added to the demo's apps: drafts, long words, deliveries in each state, an inbox, refused calls and failing hooks.

Like `tools.screenshots.cast`, it imports the project only inside functions.
"""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

LONG_NAME = "Parcel quotes with a name that goes on for as long as eighty characters allow it"
LONG_WORDS = "Asks four carriers for the price of each parcel, and offers your customers the two best. " * 3


def add_apps(cast: SimpleNamespace) -> None:
    from django.utils import timezone

    from extensions.models import ManifestSave
    from extensions.services.manifests import save_manifest
    from installations.services import test_install, test_uninstall
    from marketplace.models import AppTotals, AppVersion
    from tests.deliveries import OK, delivery, one_of_each
    from tests.extensions.manifests import full
    from webhooks.enums import DeliveryStatus

    devi, long = cast.devi, {"name": LONG_NAME, "description": LONG_WORDS.strip()}
    cast.parcels = draft(devi, LONG_NAME, "parcel-draft", "shipping", scopes=["read_orders"])
    cast.stars = complete(draft(devi, "Loyalty Stars", "loyalty-stars", "loyalty"))
    save_manifest(app=cast.stars, developer=devi, document=full())
    test_install(app=cast.stars, developer=devi)
    cast.stars.developer_left_at = timezone.now()
    cast.stars.save(update_fields=["developer_left_at"])
    AppVersion.objects.filter(pk=cast.quotes.approved_version_id).update(**long)
    type(cast.quotes).objects.filter(pk=cast.quotes.pk).update(**long)
    AppTotals.objects.filter(app=cast.quotes).update(installs=1_000_000)
    first = ManifestSave.objects.filter(app=cast.bell).latest("id")
    document = first.document | {"embeds": first.document["embeds"][:1]}
    cast.first_save = first
    save_manifest(app=cast.bell, developer=devi, document=document)
    save_manifest(app=cast.bell, developer=devi, document=first.document)
    for app in (cast.till, cast.ledger):
        test_install(app=app, developer=devi)
        test_uninstall(app=app, developer=devi)
    converted = test_install(app=cast.till, developer=devi).installation
    type(converted).objects.filter(pk=converted.pk).update(is_test=False, granted_scopes=["read_orders"])
    test_install(app=cast.stamps, developer=devi)
    cast.sent = one_of_each(cast.on_sandbox)
    delivery(
        cast.sent["failing_webhook"],
        DeliveryStatus.SUCCEEDED,
        OK,
        created_at=timezone.now() - timedelta(days=3),
    )
    cast.calls = logged_calls(cast.on_sandbox, cast.token)
    fill_inbox(cast.on_sandbox)
    fail_hooks(cast.on_sandbox)


def draft(developer: Any, name: str, slug: str, category: str, **fields: Any) -> Any:
    from marketplace.scopes import SCOPES
    from marketplace.services.apps import create_app

    defaults = {
        "description": "Gives your customers a star for every order, and a treat for every ten stars.",
        "scopes": list(SCOPES),
        "redirect_url": "https://app.example.com/oauth/callback",
    }
    return create_app(developer=developer, name=name, slug=slug, category=category, **(defaults | fields)).app


def complete(app: Any) -> Any:
    """With what a submission needs; the second screenshot is for a phone."""
    from config.demo.history.apps import PICTURES
    from marketplace.services.apps import update_app
    from marketplace.services.pictures import decode
    from tests.pictures import picture, upload

    icon, shown = ((PICTURES / f"{name}.png").read_bytes() for name in ("stamp-card", "stamp-card-page"))
    screenshots = [decode(upload(each)) for each in (shown, picture(size=(400, 600)))]
    hooks = "http://127.0.0.1:9/hooks"
    return update_app(
        app=app, changes={"icon": decode(upload(icon)), "screenshots": screenshots, "webhook_url": hooks}
    )


def fill_inbox(installation: Any) -> None:
    """Entries that were answered in several ways. No dispatcher runs here, so the rows are made plainly."""
    import orjson
    from django.utils import timezone

    from common.ids import id_at
    from tests.webhooks.helpers import webhook as registered
    from webhooks import catalogue
    from webhooks.messages import message
    from webhooks.models import Event, Inbox, InboxEntry
    from webhooks.services import inboxes

    inbox = Inbox.objects.create(app=installation.app, key="an-inbox-of-the-cast")
    webhook = registered(installation, inboxes.url_of(inbox), inboxes.wanted_events(installation))
    answers = {"order.created": "ERROR", "product.out_of_stock": "SLOW", "order.delivered": "OK"}
    for number, (name, answer) in enumerate(answers.items()):
        at = timezone.now() - timedelta(minutes=30 - number)
        event = Event(type=name, business_id=installation.business_id, occurred_at=at)
        event.data = orjson.dumps(catalogue.EVENTS[name].example).decode()
        sent = message.compose(
            event=event, delivery_id=id_at(at), webhook_id=webhook.pk, url=webhook.url,
            secret=installation.webhook_secret, now=at,
        )  # fmt: skip
        headers = {name.title(): value for name, value in sent.headers.items()}  # as Django names them
        InboxEntry.objects.create(
            id=id_at(at), inbox=inbox, delivery_id=id_at(at), event_type=name, headers=headers,
            body=sent.body.decode(), answer=answer, received_at=at,
        )  # fmt: skip


def logged_calls(installation: Any, token: str) -> Any:
    """Calls by the app, by what they got. Real ones, written as the log writes them."""
    import json

    from django.conf import settings
    from django.test import Client

    from activity import log
    from activity.models import ApiCall
    from installations.models import Installation
    from stores.models import Product

    host = settings.BASE_URL.partition("://")[2]
    api = Client(headers={"Authorization": f"Bearer {token}", "Host": host})
    product = Product.objects.filter(business=installation.business, stock=None, is_available=True).first()
    order = {
        "items": [{"productId": str(product.pk), "quantity": 3}],
        "customer": {"name": "Grace Okafor", "email": "grace@example.com"},
        "deliveryMethod": "PICKUP",
        "paymentMethod": "CASH",
    }

    def post(body: Any, **headers: str) -> Any:
        return api.post("/app-api/orders", json.dumps(body), content_type="application/json", headers=headers)

    narrowed = [each for each in installation.app.scopes if each != "read_business"]
    Installation.objects.filter(pk=installation.pk).update(narrowed_scopes=narrowed)
    answers = {
        "order": post(order, **{"Idempotency-Key": "cart-4711"}),
        "invalid": post(order | {"deliveryMethod": "TELEPORT", "items": []}),
        "missing": api.get("/app-api/products/00000000-0000-7000-8000-000000000000"),
        "forbidden": api.get("/app-api/business"),
    }
    for number in range(57):
        limited = api.get("/app-api/products?limit=5" if number % 9 else "/app-api/orders?status=PENDING")
    Installation.objects.filter(pk=installation.pk).update(narrowed_scopes=None)
    log.flush()
    answers["limited"] = limited
    return {name: ApiCall.objects.get(pk=answer["X-Request-Id"]) for name, answer in answers.items()}


def fail_hooks(installation: Any) -> None:
    """Hooks of the sample app that did badly, and not at all."""
    from extensions.enums import CallOutcome
    from extensions.hooks.handlers import NOT_CHECKED, STORES_FEE
    from tests.hook_calls import stop, week

    fee, check = (
        installation.app.definitions.get(key=point, is_active=True)
        for point in ("checkout.shipping_rates", "order.validate")
    )
    late, skipped = [CallOutcome.TIMEOUT] * 5, [CallOutcome.BREAKER_OPEN] * 2
    week(installation, fee, *late, *skipped, fallback=STORES_FEE)
    stop(installation, fee)
    week(installation, check, CallOutcome.UNEXPECTED, CallOutcome.HTTP_ERROR, fallback=NOT_CHECKED)

"""What is added to the demo's stores: orders with a page, pictures, an erased customer, and apps in each state.

Like `tools.screenshots.cast`, it imports the project only inside functions.
"""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

HOOKS = "https://app.example.com/hooks"


def add_stores(cast: SimpleNamespace) -> None:
    from django.utils import timezone

    from accounts.services import create_business
    from extensions.models import Placement
    from extensions.services.extension_states import add_block
    from installations.models import Trial
    from installations.services import Terms, install
    from stores.models import Product, Review

    shop = cast.shop
    cast.orders = orders_with_a_page(shop)
    cast.product = Product.objects.get(business=shop, slug="almond-croissant")
    cast.pictured = with_pictures(Product.objects.get(business=shop, slug="birthday-cake-to-order"))
    cast.review = Review.objects.filter(business=shop, rating=1).latest("id")
    cast.erased = erased_customer(shop)
    cast.block = Placement.objects.get(page__business=shop)
    cast.about = cast.block.page
    add_block(page=cast.about, installation=cast.at_shop["bell"], definition=cast.block.definition)
    cast.ring = cast.bell.definitions.get(key="ring_us")
    create_business(owner=cast.mary, name="A second shop, on the other side of the river", currency="EUR")
    # A trial that goes on would lead to its copy, or show itself on the dashboard.
    cast.trial = Trial.objects.create(
        app=cast.tables, store=shop, asked_by=cast.mary, ended_at=timezone.now()
    )
    add_installations(cast)
    # Of Noor's two stores, the app asks the first one for more than it was given.
    cast.noors_shop = cast.noor.businesses.get()
    create_business(owner=cast.noor, name="Market Stall")
    terms = Terms(is_test=False, granted_scopes=["read_products", "read_orders"])
    install(app=cast.till, business=cast.noors_shop, installed_by=cast.noor, terms=terms)


def orders_with_a_page(shop: Any) -> dict[str, Any]:
    """By the state of their payment. The demo's have no page, since their keys are unknown, and none of them waits for its payment."""
    from django.utils import timezone

    from common.secrets import digest
    from config.demo.history.orders import METHOD
    from stores.models import Order, Payment

    placed = Order.objects.filter(business=shop)
    is_open = placed.exclude(status__in=("DELIVERED", "CANCELLED"))
    orders = {
        "cash": placed.filter(payment=None, refunded=0, delivery_method="DELIVERY", discount__gt=0).earliest(
            "id"
        ),
        "paid": is_open.filter(payment__status="COMPLETED").earliest("id"),
        "expired": is_open.get(payment__status="EXPIRED"),
        "failed": is_open.get(payment__status="FAILED"),
        "waiting": is_open.latest("id"),
        "open": is_open.exclude(customer_email="").order_by("id")[0],
        "unheard": placed.filter(validation="NOT_VALIDATED").latest("id"),
        "cancelled": placed.filter(status="CANCELLED").latest("id"),
        "refunded": placed.get(refunded__gt=0),
        "ada": placed.filter(status="DELIVERED").earliest("id"),
    }
    soon = timezone.now() + timedelta(minutes=14)
    details = {
        "payment_url": "https://pay.example.com/i/1",
        "qr_code": "wallet://pay?i=1",
        "expires_at": soon,
    }
    app = orders["paid"].payment.provider
    due = {"status": "PENDING", "provider": app, "invoice_id": "INV-2041"} | details
    Payment.objects.update_or_create(order=orders["waiting"], defaults=due)
    method = {"payment_method": METHOD, "payment_method_name": "Bell Pay"}
    Order.objects.filter(pk=orders["waiting"].pk).update(**method)
    for name in ("cash", "paid", "expired", "failed", "waiting", "refunded"):
        order = orders[name]
        order.key = name.ljust(32, "x")
        Order.objects.filter(pk=order.pk).update(page_key_digest=digest(order.key))
    return orders


def with_pictures(product: Any) -> Any:
    """A wide, a high and a square picture, of which one has a description."""
    from django.conf import settings
    from django.core.files import File

    from common.files.pictures import Decoded
    from stores.services.catalogue.pictures import PictureChanges, decode
    from stores.services.catalogue.products import edit_product
    from tests.pictures import picture

    with (settings.BASE_DIR / product.image.lstrip("/")).open("rb") as file:
        wide = decode(File(file))
    new = [wide, *(Decoded(picture(size=size), "PNG", *size) for size in ((600, 900), (700, 700)))]
    edit_product(product=product, stock_seen=product.stock, pictures=PictureChanges(new=new))
    first = product.pictures.first()
    first.alt = "A round cake with three layers and candles"
    first.save()
    return product


def erased_customer(shop: Any) -> Any:
    """One whom the store has erased. Another one could be: nothing of hers is open."""
    from stores.customers import Person
    from stores.models import Order
    from stores.services.customer_erasure import erase

    done = Order.objects.filter(business=shop, status="DELIVERED").order_by("id")
    for order, name in zip(done[:2], ("Ada", "Bob"), strict=True):
        order.customer_name, order.customer_email = f"{name} Bell", f"{name.lower()}@example.com"
        order.save()
    return erase(business=shop, person=Person.of(email="bob@example.com"))


def add_installations(cast: SimpleNamespace) -> None:
    """On the bakery: apps with settings of every kind, that ask for more, are in trouble, have ended, were erased."""
    from django.utils import timezone

    from extensions.models import ReachRequest
    from installations.enums import HistoryKind
    from installations.models import Installation
    from installations.services import history, uninstall
    from marketplace.models import App, AppVersion
    from tests.extensions.settings import give_settings
    from tests.merchants.pages import ask_for_more, installed
    from webhooks.models import Webhook

    now, shop = timezone.now(), cast.shop
    give_settings(cast.stamps)
    called = [each.pk for each in (cast.quotes, cast.till, cast.shelf)]
    App.objects.filter(pk__in=called).update(webhook_url=HOOKS)
    AppVersion.objects.filter(app__in=called).update(webhook_url=HOOKS)
    for state, app in {
        "settings": cast.stamps, "asking": cast.tables, "failing": cast.quotes, "ended": cast.till, "erased": cast.shelf,
    }.items():  # fmt: skip
        app.refresh_from_db()
        cast.at_shop[state] = installed(app, shop, now=now - timedelta(days=40))
    asking, failing, ended, erased = (cast.at_shop[each] for each in ("asking", "failing", "ended", "erased"))
    reason = "Your guests get the same table again, and may leave a review of the evening."
    ask_for_more(asking, ["read_business", "read_reviews", "write_orders"], reason)
    AppVersion.objects.filter(pk=asking.agreed_version_id).update(
        data_countries=["DE"], data_retention_days=30
    )
    moved = {"countries": ["DE", "US"], "days": 30, "processors": "Table Mail Inc."}
    ReachRequest.objects.create(version=asking.agreed_version, content=moved)
    history.record(
        installation=asking, kind=HistoryKind.NEEDS_RECONSENT, at=now, note="read_reviews, write_orders"
    )
    Installation.objects.filter(business=shop).update(last_used_at=now - timedelta(minutes=12))
    Webhook.objects.filter(installation=failing).update(failing_since=now - timedelta(hours=30))
    uninstall(installation=ended, by=cast.mary, now=now - timedelta(hours=1))
    uninstall(installation=erased, by=cast.mary, now=now - timedelta(days=9))
    confirm_erasure(erased, now - timedelta(days=7))


def confirm_erasure(installation: Any, asked: Any) -> None:
    """At the second attempt."""
    from installations.enums import HistoryKind
    from installations.services import history
    from webhooks.enums import ErasureState
    from webhooks.models import Attempt, Delivery, Erasure

    confirmed = asked + timedelta(seconds=31)
    delivery = Delivery.objects.filter(webhook__installation=installation)
    for number, (at, status, error) in enumerate(((asked, 503, "http_5xx"), (confirmed, 200, "")), start=1):
        attempt = Attempt(
            number=number, attempted_at=at, http_status=status, duration_ms=80, error_class=error
        )
        attempt.delivery = delivery.get()
        attempt.save()
    delivery.update(status="SUCCEEDED", due_at=None, finished_at=confirmed)
    Erasure.objects.filter(installation=installation).update(
        state=ErasureState.CONFIRMED, sent_at=asked, confirmed_at=confirmed
    )
    for kind, at, note in (
        (HistoryKind.ERASURE_SENT, asked, ""),
        (HistoryKind.ERASURE_CONFIRMED, confirmed, "Answered with 200"),
    ):
        history.record(installation=installation, kind=kind, at=at, note=note)

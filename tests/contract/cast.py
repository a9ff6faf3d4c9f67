"""Real rows, ids and credentials for calling every endpoint of the document, as a JSON-able whole."""

import secrets
from dataclasses import asdict, dataclass, field

from django.contrib.auth.hashers import make_password

from accounts.models import Business
from accounts.services import developer_tokens
from accounts.sign_in import tokens
from conformance.enums import Sender
from conformance.services.runs import start
from installations.models import Installation
from marketplace.enums import ReleaseMode, ReleaseState
from marketplace.models import App, Membership, Release
from marketplace.scopes import SCOPES
from stores.models import Order, OrderItem, Product, Review, SitePage
from tests import deliveries, factories
from tests.installations import oauth_client
from tests.installations.oauth_client import SECRET
from tests.webhooks import helpers
from teststores.models import TestStore
from teststores.services import close, open_test_store
from webhooks.enums import DeliveryStatus
from webhooks.models import Webhook

EVENTS = ["order.created", "order.cancelled"]


@dataclass(slots=True)
class Cast:
    """`spare_…` are for what can be done to a thing once."""

    access_token: str
    developer_token: str
    client_id: str
    client_secret: str
    email: str
    password: str
    redirect_uri: str
    product: str
    product_slug: str
    order: str
    page_slug: str
    webhook: str
    delivery: str
    export: str
    app: str
    tested_app: str  # installed for test, and not the app of the access token
    app_webhook: str
    app_delivery: str
    paid_order: str
    check: str
    member: str = ""
    store: str = ""  # for tests of the tested app
    spare_orders: list[str] = field(default_factory=list)
    spare_webhooks: list[str] = field(default_factory=list)
    spare_apps: list[str] = field(default_factory=list)

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def make(*, receiver_url: str, spare: int = 3) -> Cast:
    """Dana, her sandbox, an app installed there with every scope, and things of every kind."""
    dana = factories.developer("dana@example.com", name="Dana")
    dana.set_password(
        factories.PASSWORD
    )  # hashed like a person's, so that signing in does not rehash it, which would end tokens
    dana.save()
    sandbox = Business.objects.sandbox_of(dana)
    app = _app(dana)
    installation = factories.installation(app, sandbox, granted_scopes=list(SCOPES))
    tested = _app(dana)
    factories.installation(tested, sandbox, granted_scopes=list(SCOPES))
    product = factories.product(sandbox, name="Espresso beans", stock=1_000_000)
    Review.objects.create(
        business=sandbox, product=product, rating=5, comment="Just right.", author_name="Kim"
    )
    page = SitePage.objects.create(
        business=sandbox, slug="about", title="About us", content="<p>We roast.</p>", is_published=True
    )
    webhook = helpers.webhook(installation, receiver_url, EVENTS)
    failed = _failed(webhook)
    tested_webhook = helpers.webhook(Installation.objects.get(app=tested), receiver_url, EVENTS)
    paid = _order(sandbox, product, payment_method="acme:wallet")
    factories.payment(paid, provider=str(app.pk), invoice_id="inv-77")
    cast = Cast(
        access_token=installation.raw_token,
        developer_token=tokens.issue(dana).access,
        client_id=app.client_id,
        client_secret=SECRET,
        email=dana.email,
        password=factories.PASSWORD,
        redirect_uri=app.redirect_url,
        product=str(product.pk),
        product_slug=product.slug,
        order=str(_order(sandbox, product).pk),
        page_slug=page.slug,
        webhook=str(webhook.pk),
        delivery=failed,
        export=str(factories.export(installation).pk),
        app=str(app.pk),
        tested_app=str(tested.pk),
        app_webhook=str(tested_webhook.pk),
        app_delivery=_failed(tested_webhook),
        paid_order=str(paid.pk),
        check=check_of(app),
        spare_orders=[str(_order(sandbox, product).pk) for _ in range(spare)],
        spare_webhooks=[str(helpers.webhook(installation, receiver_url, EVENTS).pk) for _ in range(spare)],
        spare_apps=[str(_app(dana).pk) for _ in range(spare)],
    )
    cast.member, cast.store = member_of(cast), store_for_tests(cast.tested_app)
    return cast


def check_of(app: App) -> str:
    """A check at its first step."""
    return str(start(app=app, sender=Sender.DEVELOPER, origin="http://localhost:3000").pk)


def app_with_two_versions(cast: Cast) -> str:
    app = _app(App.objects.get(pk=cast.app).developer)
    for _ in range(2):
        factories.approve(app)
    return str(app.pk)


def member_of(cast: Cast) -> str:
    """A row of one who works on the app."""
    person = factories.developer(f"{secrets.token_hex(4)}@example.com")
    return str(factories.member(App.objects.get(pk=cast.tested_app), person).pk)


def member_who_may_own(cast: Cast) -> str:
    """The address of a developer of the app."""
    return Membership.objects.get(pk=member_of(cast)).user.email  # type: ignore[union-attr]


def store_for_tests(app_id: str) -> str:
    """A test store where the app is installed."""
    app = App.objects.get(pk=app_id)
    for store in TestStore.objects.all():
        close(store=store)
    return str(open_test_store(app=app, developer=app.developer).store.pk)


def app_in_release(cast: Cast, state: ReleaseState) -> str:
    """An app whose second version is in the first step of its release, or halted there."""
    app = App.objects.get(pk=app_with_two_versions(cast))
    earlier, newest = app.versions.order_by("number")
    at = newest.approved_at
    Release.objects.create(
        version=newest, earlier=earlier, mode=ReleaseMode.STEPS, state=state, percent=1, started_at=at, step_at=at,
        watched_from=at,
    )  # fmt: skip
    app.rolling_version, app.earlier_version = newest, earlier
    app.approved_version = earlier if state == ReleaseState.HALTED else newest
    app.save()
    return str(app.pk)


def _app(dana: object) -> App:
    secret = make_password(SECRET, hasher="pbkdf2_random_secret")
    return factories.app(dana, client_secret=secret, webhook_url="https://93.184.216.34/events")  # type: ignore[arg-type]


def _order(business: Business, product: Product, **fields: object) -> Order:
    number = secrets.token_hex(8)  # the service counts on from 1000 in this store
    order = factories.order(business, number=number, **fields)
    OrderItem.objects.create(order=order, product_id=product.pk, name=product.name, quantity=2, price=1000)
    return order


def _failed(webhook: Webhook) -> str:
    made = deliveries.delivery(webhook, DeliveryStatus.EXHAUSTED, *[deliveries.UNAVAILABLE] * 6)
    return str(made.pk)


def code_for(cast: Cast) -> str:
    """A fresh authorization code for the app, by its consent page. It lives for 60 seconds."""
    app = App.objects.get(pk=cast.app)
    return oauth_client.code_for(app.developer, app, **oauth_client.PKCE)


def refresh_token(cast: Cast) -> str:
    """One that still works."""
    return tokens.issue(App.objects.get(pk=cast.app).developer).refresh


def device_code(cast: Cast) -> str:
    """Of a command line that the app's developer has let in."""
    codes = developer_tokens.start_grant(client_name="Order tool", network="203.0.113.0/24")
    developer = App.objects.get(pk=cast.app).developer
    developer_tokens.answer_grant(user=developer, user_code=codes.user_code, agreed=True)
    return codes.device_code

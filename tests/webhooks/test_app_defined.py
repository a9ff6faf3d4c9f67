"""The webhook that an app's Webhook URL brings to its installations."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Business, User
from common.errors import Conflict
from installations import services
from installations.models import Installation
from marketplace.models import App, AppVersion
from marketplace.services.apps import update_app
from tests import factories
from tests.webhooks.helpers import publish, published
from webhooks.enums import DeliveryStatus
from webhooks.models import Webhook
from webhooks.queries import events_of
from webhooks.services.app_defined import follow_app
from webhooks.services.registration import change_webhook

FIRST = "https://127.0.0.1:9/first"
SECOND = "https://127.0.0.1:9/second"


@pytest.fixture(autouse=True)
def _local(settings: object) -> None:
    settings.DEBUG = settings.ALLOW_LOCAL_DESTINATIONS = True  # type: ignore[attr-defined]


@pytest.fixture
def app(dana: User) -> App:
    return factories.app(dana, webhook_url=FIRST)


@pytest.fixture
def installed(app: App, dana: User) -> Installation:
    return services.test_install(app=app, developer=dana).installation


def approve(app: App, **fields: object) -> None:
    """As a reviewer would: freeze the working copy."""
    names = ("name", "description", "category", "scopes", "redirect_url", "webhook_url")
    frozen = {name: getattr(app, name) for name in names} | fields
    number = AppVersion.objects.filter(app=app).count() + 1
    app.approved_version = AppVersion.objects.create(app=app, number=number, **frozen)
    app.save()
    Installation.objects.filter(app=app).update(runs=app.approved_version)


def seen(installation: Installation) -> Installation:
    return Installation.objects.with_app().get(pk=installation.pk)


def sent(business: Business, event_type: str) -> bool:
    """Whether a fresh event gets a delivery."""
    event = publish(business, event_type)
    return event is not None and event.deliveries.exists()


@pytest.mark.spec(
    "Contract 5 Webhooks",
    "An install of an app with a Webhook URL gets one registration with that URL and the webhook secret",
)
def test_install_brings_one_webhook(installed: Installation, app: App, dana: User) -> None:
    webhook = Webhook.objects.get()
    assert (webhook.url, webhook.is_app_defined, webhook.is_active) == (FIRST, True, True)
    assert webhook.secret == installed.webhook_secret
    services.test_install(app=app, developer=dana)
    assert Webhook.objects.count() == 1


def test_install_without_a_url_brings_none(dana: User) -> None:
    installed = services.test_install(app=factories.app(dana), developer=dana).installation
    follow_app(installations=[seen(installed)])
    assert not Webhook.objects.exists()


@pytest.mark.spec(
    "Contract 5 Webhooks", "It is sent the app's webhookEvents; left empty, every event its scopes allow"
)
def test_events_follow_the_app(installed: Installation, app: App, sandbox: Business) -> None:
    webhook = Webhook.objects.get()
    assert events_of(webhook, seen(installed))[0] == "order.created"
    assert published(sandbox, "review.created").webhook == webhook
    update_app(app=app, changes={"webhook_events": ["product.created"]})
    assert events_of(webhook, seen(installed)) == ["product.created"]
    assert not sent(sandbox, "review.created")
    assert sent(sandbox, "product.created")
    update_app(app=app, changes={"webhook_events": [], "scopes": ["read_reviews"]})
    assert events_of(webhook, seen(installed)) == [
        "review.created",
        "review.deleted",
        "installation.updated",
        "business.data_erasure",
        "customer.data_erasure",
    ]
    assert publish(sandbox, "product.created") is None


def test_events_that_were_chosen_stay(installed: Installation, app: App, sandbox: Business) -> None:
    webhook = change_webhook(webhook=Webhook.objects.get(), changes={"events": ["review.created"]})
    update_app(app=app, changes={"webhook_events": ["product.created"]})
    assert events_of(webhook, seen(installed)) == ["review.created"]
    assert not sent(sandbox, "product.created")
    assert sent(sandbox, "review.created")


@pytest.mark.spec(
    "Contract 5 Webhooks", "The app's own developer's test install follows the working copy's URL"
)
def test_another_url_of_the_working_copy_moves_the_test_install(installed: Installation, app: App) -> None:
    update_app(app=app, changes={"webhook_url": SECOND})
    assert Webhook.objects.get().url == SECOND


@pytest.mark.spec("Contract 5 Webhooks", "A Webhook URL added later brings it into being")
def test_url_that_is_added_later(dana: User) -> None:
    app = factories.app(dana)
    installed = services.test_install(app=app, developer=dana).installation
    update_app(app=app, changes={"webhook_url": FIRST})
    webhook = Webhook.objects.get(installation=installed)
    assert (webhook.url, webhook.is_app_defined, webhook.secret) == (FIRST, True, installed.webhook_secret)


@pytest.mark.spec("Contract 5 Webhooks", "A removed Webhook URL makes the webhook inactive")
def test_url_that_is_removed_switches_it_off_until_there_is_one(
    installed: Installation, app: App, sandbox: Business
) -> None:
    waiting = published(sandbox)
    update_app(app=app, changes={"webhook_url": ""})
    webhook = Webhook.objects.get()
    assert (webhook.url, webhook.is_active, webhook.disabled_at) == (FIRST, False, None)
    waiting.refresh_from_db()
    assert waiting.status == DeliveryStatus.CANCELLED
    assert not sent(sandbox, "order.created")
    update_app(app=app, changes={"webhook_url": SECOND})
    webhook.refresh_from_db()
    assert (webhook.url, webhook.is_active) == (SECOND, True)


@pytest.mark.parametrize("when", ["before", "while"])
def test_url_that_comes_back_does_not_undo_what_the_app_switched_off(
    when: str, installed: Installation, app: App
) -> None:
    webhook = Webhook.objects.get()
    if when == "before":
        change_webhook(webhook=webhook, changes={"is_active": False})
    update_app(app=app, changes={"webhook_url": ""})
    if when == "while":
        change_webhook(webhook=webhook, changes={"is_active": False})
    update_app(app=app, changes={"webhook_url": FIRST})
    webhook.refresh_from_db()
    assert not webhook.is_active


def test_without_a_url_it_can_not_be_switched_on(installed: Installation, app: App) -> None:
    update_app(app=app, changes={"webhook_url": ""})
    with pytest.raises(Conflict, match="no Webhook URL"):
        change_webhook(webhook=Webhook.objects.get(), changes={"is_active": True})


@pytest.mark.spec("Contract 5 Webhooks", "A production install follows the approved Webhook URL")
def test_production_install_follows_the_approved_url(app: App, shop: Business, mira: User) -> None:
    approve(app)
    installation = services.install(
        app=app,
        business=shop,
        installed_by=mira,
        terms=services.Terms(is_test=False, granted_scopes=app.scopes),
    ).installation
    update_app(app=app, changes={"webhook_url": SECOND})
    webhook = Webhook.objects.get(installation=installation)
    assert webhook.url == FIRST
    app.refresh_from_db()
    approve(app, webhook_url=SECOND)
    follow_app(installations=[seen(installation)])
    webhook.refresh_from_db()
    assert webhook.url == SECOND


def test_another_developers_test_install_follows_the_approved_url(app: App, sam: User) -> None:
    approve(app)
    sandbox = Business.objects.sandbox_of(sam)
    services.install(
        app=app,
        business=sandbox,
        installed_by=sam,
        terms=services.Terms(is_test=True, granted_scopes=app.scopes),
    )
    update_app(app=app, changes={"webhook_url": SECOND})
    assert Webhook.objects.get().url == FIRST


def test_ended_installation_gets_none(installed: Installation, app: App, dana: User) -> None:
    services.uninstall(installation=installed)
    update_app(app=app, changes={"webhook_url": SECOND})
    old = Webhook.objects.get()
    assert (old.url, old.is_active) == (FIRST, False)
    follow_app(installations=[seen(installed)])
    again = services.test_install(app=app, developer=dana).installation
    assert Webhook.objects.get(installation=again).secret == again.webhook_secret != old.secret


def test_edit_of_another_field_costs_no_look_at_webhooks(installed: Installation, app: App) -> None:
    with CaptureQueriesContext(connection) as captured:
        update_app(app=app, changes={"name": "Another"})
    assert not [query for query in captured if "webhooks_" in query["sql"]]

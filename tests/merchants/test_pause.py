"""Pause and Resume: what a merchant presses, and everything of the app that stops and goes on."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from time import sleep
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from common.errors import NotAllowed
from extensions.enums import ExtensionType
from extensions.models import HookCall
from extensions.services.extension_states import add_block
from installations import services
from installations.models import Installation
from stores.models import SitePage
from tests import factories
from tests.extensions.cast import define
from tests.extensions.hooks import asking
from tests.hooking import Hooked, Hooking
from tests.merchants.pages import installed, listed_app, page_of
from tests.pages import signed_in, text_of
from tests.receivers import Receiver
from tests.storefront.shopping import Shopper
from tests.webhooks import helpers
from webhooks.engine import claims
from webhooks.enums import DeliveryStatus, HeldReason
from webhooks.models import Delivery, Webhook
from webhooks.services import erasure

PAUSE = "Contract 6 The merchant's switches"


@pytest.fixture
def stars(dana: User, shop: Business) -> Installation:
    return installed(listed_app(dana, ["read_orders"], name="Loyalty Stars"), shop)


def press(browser: Client, installation: Installation, button: str) -> str:
    """Press a button that the app's page has, and read the page after it."""
    address = page_of(installation, f"{button.lower()}/")
    page = text_of(browser.get(page_of(installation)))
    assert f'action="{address}"' in page
    assert f"</svg>{button}</button>" in page
    return text_of(browser.post(address, follow=True))


@pytest.mark.long
def test_page_says_that_the_app_is_paused_and_what_waits(browser: Client, stars: Installation) -> None:
    page = press(browser, stars, "Pause")
    browser.post(page_of(stars, "pause/"))  # of another window
    assert "Loyalty Stars is paused in Mira" in page
    assert "Updates for it are held, for up to 30 days, until you resume it." in page
    assert "</svg>Pause</button>" not in page
    assert "</svg>Paused</span>" in text_of(browser.get("/merchant/apps/"))
    assert "</svg>Working</span>" in press(browser, stars, "Resume")
    browser.post(page_of(stars, "resume/"))
    assert list(stars.history.order_by("at", "id").values_list("kind", flat=True)) == [
        "INSTALLED", "PAUSED", "RESUMED",
    ]  # fmt: skip
    history = text_of(browser.get(page_of(stars, "activity/")))
    assert history.index("Resumed") < history.index("Paused") < history.index("Installed")


def test_only_the_owner_pauses(stars: Installation) -> None:
    tom = factories.merchant("tom@example.com")
    for act in (services.pause, services.resume):
        assert signed_in(tom).post(page_of(stars, f"{act.__name__}/")).status_code == 404
        with pytest.raises(NotAllowed):  # whatever page may call it
            act(installation=stars, user=tom)
    stars.refresh_from_db()
    assert stars.paused_at is None


# What stops


@pytest.mark.long
@pytest.mark.spec(PAUSE, "The hooks of a paused app are not asked, and leave no line in the ledger")
def test_hooks(browser: Client, shop: Business, hooking: Hooking) -> None:
    hooked: Hooked = hooking("checkout.shipping_rates", {"fee": 1})
    press(browser, hooked.installation, "Pause")
    assert asking.fee(shop, built_in=350) == 350
    assert (hooked.receiver.requests, HookCall.objects.count()) == ([], 0)
    press(browser, hooked.installation, "Resume")
    assert asking.fee(shop, built_in=350) == 1


@pytest.mark.long
@pytest.mark.spec(PAUSE, "Scripts, widgets and blocks of a paused app are not on the store's pages")
def test_scripts_widgets_and_blocks(browser: Client, shop: Business, stars: Installation) -> None:
    script = {"kind": "GLOBAL_SCRIPT", "position": "head", "scriptUrl": "https://app.example.com/stars.js"}
    define(stars.app, ExtensionType.EMBED, "script", **script)
    define(stars.app, ExtensionType.EMBED, "chat")
    block = define(stars.app, ExtensionType.BLOCK, "rating")
    page = SitePage.objects.create(business=shop, title="About", slug="about", is_published=True)
    add_block(page=page, installation=stars, definition=block)
    parts = [f"https://app.example.com/{part}" for part in ("stars.js", "widget", "block")]

    def shown() -> list[bool]:
        html = Shopper(shop).see("pages/about/")
        return [part in html for part in parts]

    assert shown() == [True, True, True]
    press(browser, stars, "Pause")
    assert shown() == [False, False, False]
    press(browser, stars, "Resume")
    assert shown() == [True, True, True]


@pytest.mark.long
@pytest.mark.spec(PAUSE, "The admin page of a paused app says so instead of loading")
def test_admin_page(browser: Client, stars: Installation) -> None:
    define(stars.app, ExtensionType.ADMIN_PAGE, "summary")
    address = page_of(stars, "pages/summary/")
    assert "<iframe" in text_of(browser.get(address))
    press(browser, stars, "Pause")
    page = text_of(browser.get(address))
    assert "<iframe" not in page
    assert "You paused this app on" in page
    assert f'href="{address}"' in page  # it stays in the sidebar
    assert browser.get(page_of(stars, "session-token/")).status_code == 404


@pytest.mark.long
@pytest.mark.spec(PAUSE, "The app API answers a paused app 403, after 401 and before everything else")
def test_app_api(browser: Client, client: Client, stars: Installation) -> None:
    token: str = stars.raw_token  # type: ignore[attr-defined]

    def call(path: str, method: str = "get", **options: Any) -> tuple[int, str]:
        response = getattr(client, method)(path, headers={"authorization": f"Bearer {token}"}, **options)
        return response.status_code, response.json().get("message", "")

    refused = (403, "The store has paused this app")
    press(browser, stars, "Pause")
    assert call("/app-api/installation") == refused
    assert call("/app-api/products") == refused  # for which it has no scope either
    assert call("/app-api/orders/none") == refused
    assert call("/webhooks", "post", data="no JSON", content_type="text/plain") == refused
    assert client.get("/app-api/orders", headers={"authorization": "Bearer fbat_x"}).status_code == 401
    press(browser, stars, "Resume")
    assert call("/app-api/orders")[0] == 200


# What waits


@pytest.fixture
def delivering(transactional_db: None, settings: Any) -> None:
    settings.DEBUG = True


def states() -> list[tuple[str, str]]:
    return list(Delivery.objects.order_by("id").values_list("status", "held_reason"))


HELD = (DeliveryStatus.HELD, HeldReason.PAUSED)


@pytest.mark.long
@pytest.mark.usefixtures("delivering")
@pytest.mark.spec(PAUSE, "New and waiting deliveries of a paused app are held; Resume sends them")
def test_deliveries_wait_for_the_resume(browser: Client, shop: Business, stars: Installation) -> None:
    with Receiver() as receiver:
        helpers.webhook(stars, receiver.url, ["order.created"])
        helpers.publish(shop)
        press(browser, stars, "Pause")
        helpers.publish(shop)
        assert states() == [HELD, HELD]
        assert helpers.drain() == 0
        press(browser, stars, "Resume")
        Delivery.objects.update(due_at=timezone.now())  # they go out ten a second
        assert helpers.drain() == 2
        assert {request.headers["x-service-event-id"] for request in receiver.requests} == {
            str(pk) for pk in Delivery.objects.values_list("pk", flat=True)
        }


@pytest.mark.usefixtures("delivering")
def test_event_that_was_published_during_the_pressing_is_held_too(
    shop: Business, stars: Installation
) -> None:
    helpers.webhook(stars, "https://127.0.0.1:9/", ["order.created"])
    helpers.publish(shop)
    Installation.objects.update(paused_at=timezone.now())  # what waits was looked for a moment earlier
    assert helpers.drain() == 0
    assert states() == [HELD]


@pytest.mark.usefixtures("delivering")
def test_delivery_that_a_dispatcher_found_paused_is_not_held_after_the_resume(
    shop: Business, stars: Installation
) -> None:
    helpers.webhook(stars, "https://127.0.0.1:9/", ["order.created"])
    helpers.publish(shop)
    [claim] = helpers.claim(1, timezone.now())
    claims.hold_while_paused([claim])  # the resume was faster
    assert states() == [(DeliveryStatus.PENDING, "")]
    assert Delivery.objects.get().lease_until is None


@pytest.mark.long
@pytest.mark.spec(PAUSE, "A webhook that was disabled keeps what a pause has held for its recovery")
def test_resume_sends_nothing_to_a_webhook_that_is_off(
    browser: Client, shop: Business, stars: Installation
) -> None:
    disabled, off = (helpers.webhook(stars, f"https://127.0.0.1:9/{n}", ["order.created"]) for n in (1, 2))
    helpers.publish(shop)
    press(browser, stars, "Pause")
    Webhook.objects.filter(pk=disabled.pk).update(is_active=False, disabled_at=timezone.now())
    Webhook.objects.filter(pk=off.pk).update(is_active=False)
    press(browser, stars, "Resume")
    assert Delivery.objects.get(webhook=disabled).status == DeliveryStatus.HELD
    assert Delivery.objects.get(webhook=disabled).held_reason == HeldReason.DISABLED
    assert Delivery.objects.get(webhook=off).status == DeliveryStatus.CANCELLED


@pytest.mark.long
@pytest.mark.usefixtures("delivering")
@pytest.mark.spec(PAUSE, "A paused app can be uninstalled; its data erasure is sent all the same")
def test_uninstall_while_paused(browser: Client, shop: Business, stars: Installation) -> None:
    with Receiver() as receiver:
        version = stars.app.approved_version
        assert version
        version.webhook_url = receiver.url
        version.save()
        helpers.webhook(stars, receiver.url, ["order.created"])
        helpers.publish(shop)
        press(browser, stars, "Pause")
        browser.post(page_of(stars, "uninstall/"))
        Delivery.objects.filter(event__type="business.data_erasure").update(due_at=timezone.now())
        assert helpers.drain() == 1
    [request] = receiver.requests
    assert request.headers["x-webhook-event"] == "business.data_erasure"
    assert Delivery.objects.get(event__type="order.created").status == DeliveryStatus.CANCELLED
    erasure.update_states(now=timezone.now() + timedelta(days=3))
    assert stars.history.filter(kind="ERASURE_CONFIRMED").exists()


@pytest.mark.long
@pytest.mark.spec(PAUSE, "The developer sees that the store has paused the app")
def test_portal(browser: Client, dana: User, shop: Business, stars: Installation) -> None:
    helpers.webhook(stars, "https://127.0.0.1:9/", ["order.created"])
    helpers.publish(shop)
    press(browser, stars, "Pause")
    developer, app = signed_in(dana), f"/portal/apps/{stars.app.slug}/"
    assert "</svg>Paused by the store</span>" in text_of(developer.get(f"{app}webhooks/"))
    delivery = f"{app}deliveries/{Delivery.objects.get().pk}/"
    page = text_of(developer.get(delivery))
    assert "Held: the store has paused the app" in page
    assert "Resend now" not in page
    developer.post(f"{delivery}resend/")
    assert states() == [HELD]


@pytest.mark.long
@pytest.mark.usefixtures("delivering")
def test_event_that_is_published_during_the_resume_is_sent(shop: Business, stars: Installation) -> None:
    """The change that caused it began while the app was paused, and commits after the merchant has pressed Resume."""
    helpers.webhook(stars, "https://127.0.0.1:9/", ["order.created"])
    services.pause(installation=stars, user=shop.owner)
    published, pressed = Event(), Event()

    def change() -> None:
        with transaction.atomic():
            helpers.publish(shop)
            published.set()
            pressed.wait(5)
            sleep(0.3)  # the resume reaches its lock
        connection.close()

    def resume() -> None:
        pressed.set()
        services.resume(installation=stars, user=shop.owner)
        connection.close()

    with ThreadPoolExecutor() as threads:
        changing = threads.submit(change)
        assert published.wait(5)
        threads.submit(resume).result()
        changing.result()
    assert Delivery.objects.get().status == DeliveryStatus.PENDING

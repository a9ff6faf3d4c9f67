"""Suspending an app in the admin, and its effects."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import Business, User
from installations.services import uninstall
from marketplace.models import App, ReviewEntry
from marketplace.services import reviews
from marketplace.services.apps import delete_app
from tests import factories
from tests.developers.review.reviewing import client_of, messages_of, page_of
from tests.receivers import Receiver
from tests.webhooks import helpers
from webhooks.enums import DeliveryStatus
from webhooks.models import Delivery, Webhook

SUSPENSION = "Contract 6 Extensions"


@pytest.mark.long
@pytest.mark.spec(
    SUSPENSION, "A reviewer suspends an app and lifts the suspension; its effects are shown first"
)
def test_suspend_and_lift(admin: Client, stars: App, rae: User, shop: Business) -> None:
    factories.approve(stars)
    factories.installation(stars, shop)
    assert "Suspend" in admin.get(page_of(stars)).text
    asked = admin.get(page_of(stars, "suspend")).text
    assert "The app leaves the marketplace, and merchants can&#x27;t install it." in asked
    assert "1 installation remains, but its access token is refused with 401." in asked
    page = admin.post(page_of(stars, "suspend"), {"reason": "Sends spam."}, follow=True)
    assert page.redirect_chain == [(page_of(stars), 302)]
    assert "Sends spam." in page.text
    assert "Lift suspension" in page.text
    stars.refresh_from_db()
    assert (stars.is_listed, stars.suspension_reason) == (False, "Sends spam.")
    entry = ReviewEntry.objects.get(kind="SUSPENDED")
    assert (entry.actor, entry.note) == (rae, "Sends spam.")
    asked = admin.get(page_of(stars, "reinstate")).text
    assert "is listed again" in asked
    admin.post(page_of(stars, "reinstate"))
    stars.refresh_from_db()
    assert (stars.is_listed, stars.suspended_at) == (True, None)
    assert ReviewEntry.objects.filter(kind="REINSTATED", actor=rae).exists()


@pytest.mark.spec(
    SUSPENSION, "The access tokens of a suspended app are refused until the suspension is lifted"
)
def test_tokens_of_a_suspended_app(admin: Client, client: Client, stars: App, shop: Business) -> None:
    factories.approve(stars)
    token = factories.installation(stars, shop).raw_token  # type: ignore[attr-defined]

    def status() -> int:
        call = client.get("/app-api/products", headers={"authorization": f"Bearer {token}"})
        return int(call.status_code)

    assert status() == 200
    admin.post(page_of(stars, "suspend"), {"reason": "Sends spam."})
    assert status() == 401
    admin.post(page_of(stars, "reinstate"))
    assert status() == 200


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.spec(
    SUSPENSION, "A suspended app is sent no webhooks, and none are kept for later but data erasures"
)
def test_webhooks_of_a_suspended_app(
    admin: Client, stars: App, dana: User, shop: Business, mira: User, settings: Any
) -> None:
    settings.DEBUG = True
    elsewhere = factories.business(mira)
    with Receiver() as receiver:
        factories.approve(stars, webhook_url=receiver.url)
        sent, disabled = (
            helpers.webhook(factories.installation(stars, business), receiver.url, ["order.created"])
            for business in (shop, elsewhere)
        )
        uninstalled = factories.installation(stars, factories.business(mira))
        uninstall(installation=uninstalled)
        Webhook.objects.filter(pk=disabled.pk).update(is_active=False, disabled_at=timezone.now())
        helpers.publish(shop)
        helpers.publish(elsewhere)

        admin.post(page_of(stars, "suspend"), {"reason": "Sends spam."})
        assert helpers.publish(shop) is None
        tested = client_of(dana).post(f"/portal/apps/{stars.slug}/webhooks/{sent.pk}/test/", follow=True)
        assert messages_of(tested) == [
            "The app is suspended. Nothing is sent until a reviewer lifts the suspension."
        ]
        Delivery.objects.filter(event__type="business.data_erasure").update(due_at=timezone.now())
        assert helpers.drain() == 1
        admin.post(page_of(stars, "reinstate"))
        assert helpers.drain() == 0
        assert [request.headers["x-webhook-event"] for request in receiver.requests] == [
            "business.data_erasure"
        ]
    orders = Delivery.objects.filter(event__type="order.created")
    assert list(orders.values_list("status", flat=True)) == [DeliveryStatus.CANCELLED] * 2


@pytest.mark.spec(SUSPENSION, "A suspended app is delisted until the suspension is lifted")
def test_listing_of_a_suspended_app(admin: Client, client: Client, stars: App) -> None:
    factories.approve(stars)
    assert client.get("/marketplace/stars/").status_code == 200
    admin.post(page_of(stars, "suspend"), {"reason": "Sends spam."})
    assert client.get("/marketplace/stars/").status_code == 404
    assert "Loyalty Stars" not in client.get("/marketplace/").text
    admin.post(page_of(stars, "reinstate"))
    assert client.get("/marketplace/stars/").status_code == 200


def test_suspension_needs_a_reason(admin: Client, stars: App) -> None:
    for reason in ("", "  ", "x" * 501):
        page = admin.post(page_of(stars, "suspend"), {"reason": reason})
        assert page.status_code == 422
    stars.refresh_from_db()
    assert stars.suspended_at is None


@pytest.mark.long
def test_action_that_came_too_late_is_refused(admin: Client, stars: App, otto: User) -> None:
    reviews.suspend(app=stars, reviewer=otto, reason="Spam.")
    for response in (
        admin.post(page_of(stars, "suspend"), {"reason": "Again."}, follow=True),
        admin.get(page_of(stars, "suspend"), follow=True),
    ):
        assert messages_of(response) == ["The app is already suspended."]
    stars.refresh_from_db()
    assert stars.suspension_reason == "Spam."
    reviews.reinstate(app=stars, reviewer=otto)
    for response in (
        admin.post(page_of(stars, "reinstate"), follow=True),
        admin.get(page_of(stars, "reinstate"), follow=True),
    ):
        assert messages_of(response) == ["The app is not suspended."]


def test_apps_are_listed_searched_and_shown_without_secrets(
    admin: Client, stars: App, sam: User, rae: User
) -> None:
    factories.app(sam, name="Till Bridge")
    factories.approve(stars)
    assert list(admin.get("/admin/marketplace/app/?q=dana").context["cl"].result_list) == [stars]
    listed = admin.get("/admin/marketplace/app/?marketplace=listed")
    assert list(listed.context["cl"].result_list) == [stars]
    assert '<a class="item" href="?marketplace=listed" aria-current="true">Listed</a>' in listed.text
    assert '<a class="item" href="?marketplace=listed&amp;status__exact=DRAFT">Draft</a>' in listed.text
    assert not list(admin.get("/admin/marketplace/app/?marketplace=suspended").context["cl"].result_list)
    page = admin.get(page_of(stars))
    assert stars.client_secret not in page.text
    assert "1.4.0" in page.text


def test_history_is_on_the_apps_page(admin: Client, stars: App, rae: User) -> None:
    reviews.suspend(app=stars, reviewer=rae, reason="Sends spam.")
    page = admin.get(page_of(stars))
    assert [entry.kind for entry in page.context["log"]] == ["SUSPENDED"]
    assert "Rae Ito" in page.text


@pytest.mark.parametrize("act", ["suspend", "reinstate"])
def test_developer_and_merchant_can_not_suspend(act: str, stars: App, dana: User, mira: User) -> None:
    for person in (dana, mira):
        assert client_of(person).post(page_of(stars, act), {"reason": "x"}).status_code == 302
    stars.refresh_from_db()
    assert stars.suspended_at is None


def test_deleted_app_has_no_page(admin: Client, stars: App) -> None:
    delete_app(app=stars)
    for act in ("suspend", "reinstate"):
        assert admin.post(page_of(stars, act), {"reason": "x"}).status_code == 404
    assert not list(admin.get("/admin/marketplace/app/").context["cl"].result_list)

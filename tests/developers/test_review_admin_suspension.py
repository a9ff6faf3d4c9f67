"""Suspending an app in the administration, and what follows."""

import pytest
from django.test import Client

from accounts.models import Business, User
from marketplace.models import App, ReviewEntry
from marketplace.services import reviews
from marketplace.services.apps import delete_app
from tests import factories
from tests.developers.reviewing import client_of, messages_of, page_of

SUSPENSION = "Contract 6 Extensions"


@pytest.mark.spec(
    SUSPENSION, "A reviewer suspends an app and lifts that again; what it does is said beforehand"
)
def test_suspend_and_lift(admin: Client, stars: App, rae: User, shop: Business) -> None:
    factories.approve(stars)
    factories.installation(stars, shop)
    assert "Suspend" in admin.get(page_of(stars)).text
    asked = admin.get(page_of(stars, "suspend")).text
    assert "It leaves the marketplace, and nobody can install it." in asked
    assert "1 installation stays, but its access token is refused with 401." in asked
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


@pytest.mark.spec(SUSPENSION, "The access tokens of a suspended app are refused until that is lifted")
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


@pytest.mark.spec(SUSPENSION, "A suspended app is delisted until that is lifted")
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


def test_pressed_twice_or_too_late_says_how_it_stands(admin: Client, stars: App, otto: User) -> None:
    reviews.suspend(app=stars, reviewer=otto, reason="Spam.")
    for response in (
        admin.post(page_of(stars, "suspend"), {"reason": "Again."}, follow=True),
        admin.get(page_of(stars, "suspend"), follow=True),
    ):
        assert messages_of(response) == ["The app is suspended already."]
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
    assert not list(admin.get("/admin/marketplace/app/?marketplace=suspended").context["cl"].result_list)
    page = admin.get(page_of(stars))
    assert stars.client_secret not in page.text
    assert "1.4.0" in page.text


def test_history_stands_on_the_apps_page(admin: Client, stars: App, rae: User) -> None:
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


def test_app_that_is_gone_has_no_page(admin: Client, stars: App) -> None:
    delete_app(app=stars)
    for act in ("suspend", "reinstate"):
        assert admin.post(page_of(stars, act), {"reason": "x"}).status_code == 404
    assert not list(admin.get("/admin/marketplace/app/").context["cl"].result_list)

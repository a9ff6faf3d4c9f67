"""The pages about members of an app: inviting, accepting, leaving, transferring."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from accounts.services.confirmation import is_confirmed
from accounts.services.deletion import delete_account, obstacles_of
from installations import services
from installations.models import Installation
from marketplace.access import people_to_notify
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services import members
from marketplace.services.members import MEMBERS
from tests import factories
from tests.clients import api_of
from tests.pages import main_words_of, signed_in, text_of

SECTION = "Contract 11 Members"
HTML = {"accept": "text/html"}
PAGE = "/portal/apps/stars/members/"
OFFER = "Regenerate the client secret?"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_step_up(settings: Any) -> None:
    settings.STEP_UP = False


@pytest.mark.long
@pytest.mark.spec(SECTION, "After a developer is removed the page offers to regenerate the client secret")
def test_removed_developer_and_the_secret(browser: Client, stars: App, sam: User) -> None:
    row = factories.member(stars, sam)
    services.test_install(app=stars, developer=sam)
    assert Installation.objects.active().filter(business__owner=sam).exists()
    browser.post(f"{PAGE}{row.pk}/remove/")
    assert OFFER in text_of(browser.get(PAGE), 200)
    assert not Installation.objects.active().filter(business__owner=sam).exists()
    assert signed_in(sam).get("/portal/apps/stars/").status_code == 404


@pytest.mark.long
@pytest.mark.spec(SECTION, "The offer of another client secret stays, however a developer went")
@pytest.mark.parametrize("how", ["removed", "viewer", "left", "account"])
def test_client_secret_is_offered_until_it_is_regenerated_or_kept(
    browser: Client, stars: App, dana: User, sam: User, how: str
) -> None:
    row, kim = factories.member(stars, sam), factories.developer("kim@example.com", name="Kim")
    factories.member(stars, kim, AppRole.VIEWER)
    assert OFFER not in main_words_of(browser.get(PAGE))
    path = f"/developer/apps/{stars.pk}/members/{row.pk}"
    if how == "viewer":
        assert api_of(dana)("patch", path, {"role": "VIEWER"}).status_code == 200
    elif how == "account":
        delete_account(user=sam)
    else:
        assert api_of(sam if how == "left" else dana)("delete", path).status_code == 204
    for _ in range(2):
        assert OFFER in main_words_of(browser.get(PAGE))
    assert OFFER not in main_words_of(signed_in(kim).get(PAGE)), "A viewer may not regenerate it."
    if how in ("viewer", "left"):
        assert api_of(dana)("post", f"/developer/apps/{stars.pk}/client-secret").status_code == 201
    else:
        assert "Keep current secret" in main_words_of(browser.get(PAGE))
        browser.post(f"{PAGE}keep-secret/")
    assert OFFER not in main_words_of(browser.get(PAGE))


def test_client_secret_is_not_offered_after_others_went(browser: Client, stars: App, sam: User) -> None:
    """A viewer knows no secret, and neither does a developer who was only invited."""
    viewer = factories.member(stars, sam, AppRole.VIEWER)
    invited = MEMBERS.invite(stars, by=stars.developer, email="kim@example.com", role="DEVELOPER")
    other = MEMBERS.invite(stars, by=stars.developer, email="ann@example.com", role="DEVELOPER")
    browser.post(f"{PAGE}{other.id}/role/", {"role": "VIEWER"})
    for each in (viewer.pk, invited.id):
        browser.post(f"{PAGE}{each}/remove/")
    assert OFFER not in main_words_of(browser.get(PAGE))
    assert Membership.objects.count() == 1


@pytest.mark.spec(SECTION, "Only the owner is shown the page that removes another member")
def test_page_that_removes_another_is_the_owners(browser: Client, stars: App, dana: User, sam: User) -> None:
    row, kim = factories.member(stars, sam, AppRole.VIEWER), factories.developer("kim@example.com")
    theirs = factories.member(stars, kim)
    for unknown in (theirs.pk, dana.pk, "nothing"):
        assert "Your role on this app is VIEWER" in text_of(
            signed_in(sam).get(f"{PAGE}{unknown}/remove/"), 403
        )
    assert "Leave" in text_of(signed_in(sam).get(f"{PAGE}{row.pk}/remove/"), 200)
    assert browser.get(f"{PAGE}{theirs.pk}/remove/").status_code == 200


@pytest.mark.long
def test_member_leaves(stars: App, sam: User) -> None:
    row, browser = factories.member(stars, sam, AppRole.VIEWER), signed_in(sam)
    page = browser.get(PAGE)
    assert ("Leave" in main_words_of(page), "Invite" in main_words_of(page)) == (True, False)
    assert "You left Loyalty Stars" in text_of(browser.post(f"{PAGE}{row.pk}/remove/", follow=True), 200)
    assert not Membership.objects.exists()


@pytest.mark.long
@pytest.mark.spec(SECTION, "A transfer is accepted in the portal, with fresh proof")
def test_transfer_by_two_pages(browser: Client, stars: App, dana: User, sam: User, settings: Any) -> None:
    factories.member(stars, sam)
    theirs = signed_in(sam)
    assert "wants to transfer" not in text_of(theirs.get("/portal/apps/stars/"), 200)
    page = browser.post("/portal/apps/stars/transfer/", {"email": sam.email}, follow=True)
    assert "sam@example.com can accept" in main_words_of(page)
    places = ("/portal/", PAGE, "/portal/apps/stars/")  # where they look
    for place in places:
        answer = theirs.get(place)
        assert "wants to transfer" in main_words_of(answer), place
        assert 'href="/portal/apps/stars/transfer/accept/"' in text_of(answer, 200)
    kim = factories.developer("kim@example.com")
    factories.member(stars, kim)
    for place in places:
        assert "wants to transfer" not in text_of(signed_in(kim).get(place), 200)
        assert "wants to transfer" not in text_of(browser.get(place), 200)
    assert "Accept" in main_words_of(theirs.get("/portal/apps/stars/transfer/accept/"))
    settings.STEP_UP = True
    for person, path in ((dana, "transfer/"), (sam, "transfer/accept/")):
        asked = signed_in(person).post(f"/portal/apps/stars/{path}", {"email": sam.email})
        assert (asked.status_code, "prove" in asked["location"]) == (302, True)
    assert App.objects.get().developer == dana
    settings.STEP_UP = False
    assert "is yours now" in main_words_of(theirs.post("/portal/apps/stars/transfer/accept/", follow=True))
    assert App.objects.get().developer == sam
    assert theirs.get("/portal/apps/stars/transfer/accept/").status_code == 409
    assert "Your role on this app is DEVELOPER" in text_of(browser.get("/portal/apps/stars/delete/"), 403)


def test_only_possible_owner_is_chosen_already(browser: Client, stars: App, sam: User) -> None:
    """With two, a person has to say which."""
    page = "/portal/apps/stars/transfer/"
    factories.member(stars, sam)
    assert "Choose…" not in main_words_of(browser.get(page))
    factories.member(stars, factories.developer("kim@example.com"))
    assert "Choose…" in main_words_of(browser.get(page))


def test_offer_is_withdrawn(browser: Client, stars: App, sam: User) -> None:
    factories.member(stars, sam)
    members.offer_transfer(app=stars, by=stars.developer, email=sam.email)
    assert "Withdraw offer" in main_words_of(browser.get(PAGE))
    assert "wants to transfer" in main_words_of(signed_in(sam).get("/portal/"))
    browser.post("/portal/apps/stars/transfer/withdraw/")
    assert signed_in(sam).post("/portal/apps/stars/transfer/accept/").status_code == 409


@pytest.mark.spec(SECTION, "Deleting an account names the apps that others work on")
def test_account_with_a_shared_app_stays(stars: App, dana: User, sam: User) -> None:
    assert not obstacles_of(dana)
    factories.member(stars, sam)
    assert [each.title for each in obstacles_of(dana)] == ["Loyalty Stars has other members"]
    assert not obstacles_of(sam)


@pytest.mark.spec(SECTION, "Notices go to the owner and developers with confirmed addresses")
def test_notices_go_to_owner_and_developers(
    stars: App, dana: User, sam: User, rae: User, settings: Any
) -> None:
    kim = factories.developer("kim@example.com", name="Kim")
    factories.member(stars, sam)
    factories.member(stars, kim, AppRole.VIEWER)
    assert people_to_notify(stars) == [dana, sam]
    settings.CONFIRM_ADDRESSES = True
    assert people_to_notify(stars) == [person for person in (dana, sam) if is_confirmed(person)]

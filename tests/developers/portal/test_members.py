"""The pages about members of an app: inviting, accepting, leaving, transferring."""

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.models import Business, User
from accounts.services.confirmation import is_confirmed
from accounts.services.deletion import delete_account, obstacles_of
from accounts.services.sender import send_due
from installations import services
from installations.models import Installation
from marketplace.access import people_to_notify
from marketplace.enums import AppRole
from marketplace.models import App, Membership
from marketplace.services import members, transfers
from tests import factories
from tests.clients import api_of
from tests.pages import main_words_of, signed_in, text_of

MEMBERS = "Contract 11 Members"
HTML = {"accept": "text/html"}
PAGE = "/portal/apps/stars/members/"
OFFER = "Regenerate the client secret?"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_step_up(settings: Any) -> None:
    settings.STEP_UP = False


def link_for(app: App, email: str, role: str = "DEVELOPER") -> str:
    """The path of an invitation's link, as it is mailed."""
    mail.outbox.clear()
    members.invite(app=app, by=app.developer, email=email, role=role)
    send_due()
    found = re.search(r"/portal/invitations/\S+/", str(mail.outbox[0].body))
    assert found
    return found[0]


@pytest.mark.long
def test_owner_invites_and_the_list_says_so(browser: Client, stars: App) -> None:
    page = browser.post(PAGE, {"email": "Kim@example.com", "role": "VIEWER"}, follow=True)
    assert "kim@example.com is invited" in main_words_of(page)
    assert Membership.objects.get().role == "VIEWER"
    again = browser.post(PAGE, {"email": "kim@example.com", "role": "VIEWER"})
    assert "invited already" in text_of(again, 409)
    assert "Enter an e-mail address" in text_of(browser.post(PAGE, {"email": "kim", "role": "VIEWER"}), 422)


@pytest.mark.long
@pytest.mark.spec(MEMBERS, "Looking at an invitation uses nothing up, Accept does")
def test_invited_person_accepts(stars: App, sam: User) -> None:
    link, browser = link_for(stars, sam.email), signed_in(sam)
    for _ in range(2):
        assert "dana@example.com invites sam@example.com as a developer" in main_words_of(browser.get(link))
    assert Client(headers=HTML).get("/portal/apps/stars/").status_code == 302
    assert browser.get("/portal/apps/stars/").status_code == 404
    accepted = browser.post(link)
    assert (accepted.status_code, accepted["location"]) == (302, "/portal/apps/stars/")
    assert browser.get("/portal/apps/stars/").status_code == 200
    assert "no longer works" in text_of(browser.get(link), 404)
    assert is_confirmed(sam)


@pytest.mark.long
@pytest.mark.spec(MEMBERS, "Who has no account registers by the link, which confirms the address")
@pytest.mark.parametrize("confirming", [True, False])
def test_who_has_no_account_registers_by_the_link(stars: App, settings: Any, confirming: bool) -> None:
    settings.CONFIRM_ADDRESSES = confirming
    link, browser = link_for(stars, "kim@example.com"), Client(headers=HTML)
    assert "Create account" in text_of(browser.get(link), 200)
    weak = browser.post(f"{link}register/", {"name": "Kim", "password": "x"})
    assert weak.status_code == 422
    assert not User.objects.filter(email="kim@example.com").exists()
    done = browser.post(f"{link}register/", {"name": "Kim", "password": "a long enough phrase"})
    assert (done.status_code, done["location"]) == (302, link)
    kim = User.objects.get(email="kim@example.com")
    assert (kim.is_developer, is_confirmed(kim)) == (True, True)
    assert Business.objects.sandbox_of(kim)
    assert not Membership.objects.filter(user=kim).exists()
    browser.post(link)
    assert Membership.objects.get().user == kim


@pytest.mark.long
@pytest.mark.spec(
    MEMBERS, "The link is for its address only; a merchant is refused with a sentence, a reviewer may accept"
)
def test_link_is_for_its_address_only(stars: App, sam: User, mira: User, rae: User) -> None:
    link = link_for(stars, mira.email)
    assert "This invitation is for mira@example.com" in main_words_of(signed_in(sam).get(link))
    assert signed_in(sam).post(link).status_code == 403
    assert "merchant" in main_words_of(signed_in(mira).get(link))
    assert signed_in(mira).post(link).status_code == 403
    assert not Membership.objects.filter(user__isnull=False).exists()
    assert signed_in(rae).post(link_for(stars, rae.email))["location"] == "/admin/"
    assert Client(headers=HTML).get(link[:-2] + "x/").status_code == 404


def test_invitation_that_was_taken_back_no_longer_works(browser: Client, stars: App, sam: User) -> None:
    link = link_for(stars, sam.email)
    row = Membership.objects.get()
    assert "Take the invitation back" in text_of(browser.get(f"{PAGE}{row.pk}/remove/"), 200)
    browser.post(f"{PAGE}{row.pk}/remove/")
    assert signed_in(sam).post(link).status_code == 404


@pytest.mark.long
@pytest.mark.spec(MEMBERS, "After a developer is removed the page offers to regenerate the client secret")
def test_removed_developer_and_the_secret(browser: Client, stars: App, sam: User) -> None:
    row = factories.member(stars, sam)
    services.test_install(app=stars, developer=sam)
    assert Installation.objects.active().filter(business__owner=sam).exists()
    browser.post(f"{PAGE}{row.pk}/remove/")
    assert OFFER in text_of(browser.get(PAGE), 200)
    assert not Installation.objects.active().filter(business__owner=sam).exists()
    assert signed_in(sam).get("/portal/apps/stars/").status_code == 404


@pytest.mark.long
@pytest.mark.spec(MEMBERS, "The offer of another client secret stays, however a developer went")
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
    invited = members.invite(app=stars, by=stars.developer, email="kim@example.com", role="DEVELOPER")
    other = members.invite(app=stars, by=stars.developer, email="ann@example.com", role="DEVELOPER")
    browser.post(f"{PAGE}{other.id}/role/", {"role": "VIEWER"})
    for each in (viewer.pk, invited.id):
        browser.post(f"{PAGE}{each}/remove/")
    assert OFFER not in main_words_of(browser.get(PAGE))
    assert Membership.objects.count() == 1


@pytest.mark.spec(MEMBERS, "Only the owner is shown the page that removes another member")
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


def test_role_is_changed_on_the_page(browser: Client, stars: App, sam: User) -> None:
    row = factories.member(stars, sam)
    page = browser.post(f"{PAGE}{row.pk}/role/", {"role": "VIEWER"}, follow=True)
    assert "sam@example.com is a viewer now" in main_words_of(page)


@pytest.mark.long
@pytest.mark.spec(MEMBERS, "A transfer is accepted in the portal, with fresh proof")
def test_transfer_by_two_pages(browser: Client, stars: App, dana: User, sam: User, settings: Any) -> None:
    factories.member(stars, sam)
    theirs = signed_in(sam)
    assert "offered to you" not in text_of(theirs.get("/portal/apps/stars/"), 200)
    page = browser.post("/portal/apps/stars/transfer/", {"email": sam.email}, follow=True)
    assert "is offered to sam@example.com" in main_words_of(page)
    assert "This app is offered to you" in main_words_of(theirs.get("/portal/apps/stars/"))
    kim = factories.developer("kim@example.com")
    factories.member(stars, kim)
    assert "offered to you" not in text_of(signed_in(kim).get("/portal/apps/stars/"), 200)
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


def test_offer_is_withdrawn(browser: Client, stars: App, sam: User) -> None:
    factories.member(stars, sam)
    transfers.offer(app=stars, by=stars.developer, email=sam.email)
    assert "Withdraw offer" in main_words_of(browser.get(PAGE))
    browser.post("/portal/apps/stars/transfer/withdraw/")
    assert signed_in(sam).post("/portal/apps/stars/transfer/accept/").status_code == 409


@pytest.mark.spec(MEMBERS, "Deleting an account names the apps that others work on")
def test_account_with_a_shared_app_stays(stars: App, dana: User, sam: User) -> None:
    assert not obstacles_of(dana)
    factories.member(stars, sam)
    assert [each.title for each in obstacles_of(dana)] == ["Loyalty Stars has other members"]
    assert not obstacles_of(sam)


@pytest.mark.spec(MEMBERS, "Notices go to the owner and developers with confirmed addresses")
def test_notices_go_to_owner_and_developers(
    stars: App, dana: User, sam: User, rae: User, settings: Any
) -> None:
    kim = factories.developer("kim@example.com", name="Kim")
    factories.member(stars, sam)
    factories.member(stars, kim, AppRole.VIEWER)
    assert people_to_notify(stars) == [dana, sam]
    settings.CONFIRM_ADDRESSES = True
    assert people_to_notify(stars) == [person for person in (dana, sam) if is_confirmed(person)]

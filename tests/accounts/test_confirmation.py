"""Confirming addresses, as it is without DEBUG."""

import re
from typing import Any

import pytest
from django.core import mail
from django.test import Client, TestCase

from accounts.models import Business, User
from accounts.services.confirmation import confirm, is_confirmed
from accounts.signals import business_created
from common.errors import NotAllowed
from installations import services
from marketplace.models import App
from marketplace.services import reviews
from marketplace.services.apps import create_app
from marketplace.services.members import accept_transfer
from tests import factories
from tests.accounts.api import assert_error, post, sign_in
from tests.signals import heard
from tests.storefront.shopping import Shopper

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_run_at_once")]

NORA = {
    "role": "DEVELOPER",
    "name": "Nora",
    "email": "nora@example.com",
    "password": "a long walk home",
    "next": "/marketplace/",
}


@pytest.fixture(autouse=True)
def _addresses_are_confirmed(settings: Any) -> None:
    settings.CONFIRM_ADDRESSES = True


def send(client: Client, path: str, body: dict[str, str], **kwargs: Any) -> Any:
    with TestCase.captureOnCommitCallbacks(execute=True):
        return client.post(path, body, **kwargs)


def mailed_path() -> str:
    found = re.search(r"http://testserver(/accounts/confirm-email/\S+)", str(mail.outbox[-1].body))
    assert found
    return found[1]


@pytest.mark.spec("Trust 3 People", "An address is confirmed by a mailed link")
def test_mailed_link_confirms_and_leads_on(client: Client) -> None:
    response = send(client, "/accounts/register/", NORA)
    assert response["Location"] == "/accounts/confirm-email/"
    assert "_auth_user_id" not in client.session
    nora = User.objects.get()
    path = mailed_path()
    assert (
        b"nora@example.com" in client.get(path).content
    )  # a look by a mail server's scanner confirms nothing
    assert not is_confirmed(nora)
    assert client.post(path, {"next": "/marketplace/"})["Location"] == "/marketplace/"
    assert is_confirmed(nora)
    assert b"This link no longer works" in client.get(path).content


@pytest.mark.spec("Trust 3 People", "No page shows whether an address has an account")
def test_taken_address_answered_like_a_new_one(client: Client, dana: User) -> None:
    new = send(client, "/accounts/register/", NORA)
    with heard(business_created) as work:
        taken = send(client, "/accounts/register/", NORA | {"email": "Dana@example.com"})
    assert len(work) == 1  # it takes as long as for a new address
    assert (taken.status_code, taken["Location"]) == (new.status_code, new["Location"])
    assert [message.to for message in mail.outbox] == [["nora@example.com"], ["dana@example.com"]]
    assert "You already have an account" in mail.outbox[1].body
    assert (User.objects.count(), Business.objects.count()) == (2, 2)


def test_banner_sends_the_mail_again_until_the_address_is_confirmed(client: Client) -> None:
    with TestCase.captureOnCommitCallbacks(execute=True):
        assert post(client, "/auth/register", NORA).status_code == 201
    nora = User.objects.get()
    client.force_login(nora)
    assert b"Send the mail again" in client.get("/portal/").content
    response = send(client, "/accounts/confirm-email/again/", {"next": "/portal/"})
    assert response["Location"] == "/portal/"
    assert len(mail.outbox) == 2
    client.post(mailed_path())
    assert b"Send the mail again" not in client.get("/portal/").content


def test_staff_are_not_asked(client: Client) -> None:
    client.force_login(factories.reviewer())
    assert b"Send the mail again" not in client.get("/accounts/sessions/").content


def test_link_to_a_former_address_confirms_nothing(client: Client) -> None:
    send(client, "/accounts/register/", NORA)
    User.objects.update(email="other@example.com")
    client.post(mailed_path())
    nora = User.objects.get()
    assert nora.email == "other@example.com"
    assert not is_confirmed(nora)


@pytest.mark.spec("Trust 3 People", "An app is submitted once its developer's address is confirmed")
def test_app_not_submitted_before(client: Client, app: App, dana: User) -> None:
    bearer = {"Authorization": f"Bearer {sign_in(client, dana.email).json()['accessToken']}"}
    answer = post(client, f"/developer/apps/{app.pk}/submit", {}, headers=bearer)
    assert "dana@example.com" in assert_error(answer, 403, "Forbidden")["message"]
    confirm(user=dana)
    assert post(client, f"/developer/apps/{app.pk}/submit", {}, headers=bearer).status_code == 201


def test_no_app_is_created_installed_submitted_or_taken_over_before(app: App, dana: User, sam: User) -> None:
    acts = [
        lambda: create_app(
            developer=dana, name="New", slug="new", description="New.", category="OTHER", scopes=[],
            redirect_url=app.redirect_url,
        ),
        lambda: reviews.submit(app=app, developer=dana),
        lambda: services.test_install(app=app, developer=dana),
        lambda: accept_transfer(app=app, by=sam),
    ]  # fmt: skip
    for act in acts:
        with pytest.raises(NotAllowed, match="Confirm your e-mail address first"):
            act()
    assert (App.objects.get().developer, App.objects.get().status) == (dana, "DRAFT")


@pytest.mark.spec(
    "Trust 3 People", "An app is installed in a real store once the owner's address is confirmed"
)
def test_app_not_installed_before(client: Client, app: App, mira: User) -> None:
    factories.approve(app)
    client.force_login(mira)
    authorize = f"/oauth/authorize?response_type=code&client_id={app.client_id}"
    page = client.get(authorize)
    assert page.status_code == 403
    assert b"Confirm your e-mail address first" in page.content
    confirm(user=mira)
    assert client.get(authorize).status_code == 200


@pytest.mark.spec("Trust 3 People", "A store opens once its owner's address is confirmed")
def test_store_not_open_before(shop: Business, sandbox: Business, mira: User) -> None:
    assert "This store isn't open yet." in Shopper(shop).see("", 404)
    assert Shopper(sandbox).get(Shopper(sandbox).at("")).status_code == 200  # for tests, and marked so
    confirm(user=mira)
    assert Shopper(shop).get(Shopper(shop).at("")).status_code == 200
    User.objects.filter(pk=mira.pk).update(email="other@example.com")
    assert Shopper(shop).get(Shopper(shop).at("")).status_code == 200

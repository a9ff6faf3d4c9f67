import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.enums import Role
from accounts.models import Business, User
from accounts.services.staff import STAFF
from tests import factories
from tests.factories import PASSWORD
from tests.state import unchanged

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db: None) -> User:
    """The administrator."""
    return User.objects.create_superuser("ada@example.com", PASSWORD)


@pytest.fixture
def admin_client(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


@pytest.mark.long
@pytest.mark.spec("Contract 1 Accounts", "Reviewers are staff whom an administrator creates")
def test_administrator_creates_reviewer(admin_client: Client) -> None:
    body = {
        "email": "Rae@Example.com",
        "name": "Rae",
        "usable_password": "true",
        "password1": "a long walk home",
        "password2": "a long walk home",
    }
    response = admin_client.post("/admin/accounts/user/add/", body)
    assert response.status_code == 302
    rae = User.objects.get(email="rae@example.com")
    assert (rae.role, rae.is_staff, rae.is_superuser) == (Role.REVIEWER, True, False)
    visitor = Client()
    visitor.post("/accounts/login/", {"email": "rae@example.com", "password": "a long walk home"})
    assert visitor.get("/admin/").status_code == 200


def test_address_taken_in_another_case_refused(admin_client: Client, dana: User) -> None:
    body = {"email": "DANA@example.com", "name": "D", "usable_password": "false"}
    response = admin_client.post("/admin/accounts/user/add/", body)
    assert response.status_code == 200
    assert "email" in response.context["adminform"].form.errors


def test_administrator_closes_an_account(admin_client: Client, dana: User) -> None:
    page = admin_client.get(f"/admin/accounts/user/{dana.pk}/change/")
    assert page.status_code == 200
    response = admin_client.post(
        f"/admin/accounts/user/{dana.pk}/change/", {"email": dana.email, "name": "Dana D."}
    )
    assert response.status_code == 302
    dana.refresh_from_db()
    assert (dana.name, dana.is_active, dana.role) == ("Dana D.", False, Role.DEVELOPER)


@pytest.fixture
def helpdesk(client: Client) -> Client:
    """Staff with Django's own rights to change and delete people, but no superuser."""
    rae = User.objects.create_user("rae@example.com", PASSWORD, name="Rae", role=Role.REVIEWER, is_staff=True)
    rights = ["add_user", "change_user", "delete_user", "view_user"]
    rae.user_permissions.add(*Permission.objects.filter(codename__in=rights))
    client.force_login(rae)
    return client


def test_staff_change_people_but_not_their_rights(helpdesk: Client, dana: User) -> None:
    body = {"email": dana.email, "name": "Dana D.", "is_active": "on", "is_staff": "on", "is_superuser": "on"}
    assert helpdesk.post(f"/admin/accounts/user/{dana.pk}/change/", body).status_code == 302
    dana.refresh_from_db()
    assert (dana.name, dana.is_staff, dana.is_superuser) == ("Dana D.", False, False)


@pytest.mark.parametrize("who", ["themselves", "another", "superuser"])
def test_staff_can_not_touch_staff(helpdesk: Client, ada: User, who: str) -> None:
    other = factories.reviewer()
    target = {"themselves": User.objects.get(email="rae@example.com"), "another": other, "superuser": ada}[
        who
    ]
    place = f"/admin/accounts/user/{target.pk}"
    password = {"usable_password": "true", "password1": "a long walk home", "password2": "a long walk home"}
    fields = {"email": "mine@example.com", "name": "Mine", "is_active": "on"}
    chosen = {"action": "delete_selected", "_selected_action": str(target.pk), "post": "yes"}
    with unchanged(User):
        helpdesk.post(f"{place}/password/", password)
        helpdesk.post(f"{place}/change/", fields)
        helpdesk.post(f"{place}/delete/", {"post": "yes"})
        helpdesk.post("/admin/accounts/user/", chosen)
    assert target.email not in helpdesk.get("/admin/accounts/user/").content.decode().partition("<table")[2]


def test_staff_can_not_make_staff(helpdesk: Client) -> None:
    body = {"email": "new@example.com", "name": "New", "usable_password": "false"}
    assert helpdesk.post("/admin/accounts/user/add/", body).status_code == 403


@pytest.mark.parametrize("path", ["user/", "business/", "user/?q=dana", "business/?q=dana", "user/add/"])
def test_lists_open(admin_client: Client, dana: User, path: str) -> None:
    assert admin_client.get(f"/admin/accounts/{path}", follow=True).status_code == 200


def test_business_is_changed_but_not_added(admin_client: Client, shop: Business) -> None:
    assert admin_client.get("/admin/accounts/business/add/").status_code == 403
    fields = {"name": "Harbour", "type": "", "address": "", "locale": "en", "timezone": "Mars/North"}
    page = admin_client.post(f"/admin/accounts/business/{shop.pk}/change/", fields | {"currency": "XXX"})
    assert page.context["adminform"].form.errors.keys() == {"currency", "timezone"}


def test_sign_in_to_administration_is_the_sites(client: Client, dana: User, ada: User) -> None:
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0] == "/accounts/login/?next=%2Fadmin%2F"
    response = client.post(
        "/accounts/login/", {"email": "ada@example.com", "password": PASSWORD, "next": "/admin/"}
    )
    assert response["Location"] == "/admin/"


def test_developer_not_let_into_administration(client: Client, dana: User) -> None:
    client.force_login(dana)
    response = client.get("/admin/", follow=True)
    assert response.redirect_chain[-1][0] == "/accounts/login/?next=%2Fadmin%2F"
    assert response.status_code == 200


@pytest.mark.spec(
    "Contract 11 Staff", "The administration shows who works in a store, and where a person works"
)
def test_administrator_reads_the_staff_of_stores(admin_client: Client, mira: User) -> None:
    shop = mira.businesses.get()
    kim = factories.merchant_without_store("kim@example.com", name="Kim")
    factories.staff(shop, kim)
    STAFF.invite(shop, by=mira, email="ann@example.com", role="ORDERS")
    of_store = admin_client.get(f"/admin/accounts/business/{shop.pk}/change/").content.decode()
    assert ("kim@example.com" in of_store, "ann@example.com" in of_store) == (True, True)
    of_person = admin_client.get(f"/admin/accounts/user/{kim.pk}/change/").content.decode()
    assert "Works in" in of_person
    assert shop.slug in of_person or "Mira&#x27;s shop" in of_person
    found = admin_client.get("/admin/accounts/business/?q=kim@example.com").context["cl"].result_list
    assert list(found) == [shop]


@pytest.mark.spec("Contract 11 Members", "The administration shows the members of an app")
def test_administrator_reads_the_members_of_an_app(admin_client: Client, dana: User, sam: User) -> None:
    app = factories.app(dana, slug="stars")
    factories.member(app, sam)
    page = admin_client.get(f"/admin/marketplace/app/{app.pk}/change/").content.decode()
    assert sam.email in page
    assert dana.email in page

import pytest
from django.contrib.auth.models import Permission
from django.test import Client

from accounts.enums import Role
from accounts.models import Business, User
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db


@pytest.fixture
def ada(db: None) -> User:
    """The administrator."""
    return User.objects.create_superuser("ada@example.com", PASSWORD)


@pytest.fixture
def admin_client(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


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


def test_staff_can_not_promote_themselves(client: Client) -> None:
    rae = User.objects.create_user("rae@example.com", PASSWORD, name="Rae", role=Role.REVIEWER, is_staff=True)
    rae.user_permissions.add(*Permission.objects.filter(codename__in=["change_user", "view_user"]))
    client.force_login(rae)
    body = {"email": rae.email, "name": "Rae R.", "is_active": "on", "is_staff": "on", "is_superuser": "on"}
    assert client.post(f"/admin/accounts/user/{rae.pk}/change/", body).status_code == 302
    rae.refresh_from_db()
    assert (rae.name, rae.is_superuser) == ("Rae R.", False)


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

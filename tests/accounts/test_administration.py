"""What the administration asks for before a change, and what it leaves in the security log."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.test import Client
from django.urls import URLPattern, URLResolver, reverse

from accounts.admin_site import FREE
from accounts.enums import SecurityEventKind
from accounts.models import SecurityEvent, Session, User
from accounts.services.registration import create_reviewer, reviewer_group
from tests.factories import PASSWORD

pytestmark = pytest.mark.django_db

NEW = {"usable_password": "true", "password1": "a long walk home", "password2": "a long walk home"}
RAE = {"email": "rae@example.com", "name": "Rae"}


@pytest.fixture
def ada(db: None) -> User:
    """The administrator."""
    return User.objects.create_superuser("ada@example.com", PASSWORD)


@pytest.fixture
def browser(client: Client, ada: User, settings: Any) -> Client:
    """Ada's, whose sign-in is no fresh proof."""
    settings.STEP_UP = True
    client.force_login(ada)
    return client


def patterns(found: list[Any], before: str = "/admin/") -> Iterator[tuple[str | None, str]]:
    """The name and an address of each page. The rows that are looked up don't exist, since the proof comes first."""
    for each in found:
        route = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from patterns(each.url_patterns, route)
        elif isinstance(each, URLPattern):
            path = re.sub(r"<[^>]+>", "1", route)
            yield (
                each.name,
                re.sub(r"\^\(\?P<app_label>(\w+).*\)/\$", r"\1/", path).replace("(?P1.*)$", "nothing/"),
            )


def pages() -> list[tuple[str | None, str]]:
    return list(patterns(admin.site.get_urls()))


def test_walk_finds_the_pages() -> None:
    """Those of other apps, and of the libraries."""
    found = pages()
    assert {
        "accounts_user_add",
        "auth_user_password_change",
        "auth_group_delete",
        "stores_product_change",
    } <= {name for name, _ in found}
    assert {name for name, _ in found} >= FREE
    assert len({path for _, path in found}) == len(found) > 80


def is_asked(answer: Any) -> bool:
    return answer.status_code == 302 and answer["Location"].startswith("/accounts/prove/")


@pytest.mark.long
@pytest.mark.spec("Contract 15 Doors", "Every POST in the administration asks for a fresh proof")
def test_every_form_asks_for_a_fresh_proof(browser: Client) -> None:
    for name, path in pages():
        if name not in FREE | {"login"}:
            assert is_asked(browser.post(path)), path
            assert is_asked(browser.post(f"{path}?_popup=1", {"_popup": "1", "_save": ""})), path


@pytest.mark.long
def test_looking_asks_for_none(browser: Client) -> None:
    for _, path in pages():
        assert not is_asked(browser.get(path, follow=False)), path
        assert not is_asked(browser.head(path)), path


def test_free_pages_ask_for_none(browser: Client) -> None:
    for name, path in sorted(pages(), key=lambda page: page[0] == "logout"):
        if name in FREE:
            assert not is_asked(browser.post(path)), path


def prove(browser: Client, asked: Any) -> Any:
    assert is_asked(asked)
    return browser.post(asked["Location"], {"password": PASSWORD})


def test_form_with_passwords_is_shown_again_without_them(browser: Client) -> None:
    asked = browser.post("/admin/accounts/user/add/", RAE | NEW)
    assert not User.objects.filter(email="rae@example.com").exists()
    assert "a long walk home" not in str([row.get_decoded() for row in Session.objects.all()])
    page = prove(browser, asked)
    assert page.context["adminform"].form.errors.keys() == {"password1", "password2"}
    assert b'value="rae@example.com"' in page.content
    assert browser.post("/admin/accounts/user/add/", RAE | NEW).status_code == 302
    assert User.objects.get(email="rae@example.com").check_password("a long walk home")


@pytest.mark.parametrize("query", ["", "?_changelist_filters=role%3DDEVELOPER"])
def test_what_was_typed_is_saved_after_the_proof(browser: Client, dana: User, query: str) -> None:
    path = f"/admin/accounts/user/{dana.pk}/change/{query}"
    answer = prove(browser, browser.post(path, {"email": dana.email, "name": "Dana D.", "is_active": "on"}))
    dana.refresh_from_db()
    assert dana.name == "Dana D."
    assert ("role%3DDEVELOPER" in answer["Location"] or "role=DEVELOPER" in answer["Location"]) == bool(query)


def test_djangos_password_page_leads_to_ours(browser: Client) -> None:
    for name in ("password_change", "password_change_done"):
        for method in (browser.get, browser.post):
            answer = method(reverse(f"admin:{name}"))
            assert answer["Location"] == "/accounts/password/", (name, method)


# The log


@pytest.fixture
def ada_works(client: Client, ada: User) -> Client:
    client.force_login(ada)
    return client


def lines(person: User) -> list[tuple[str, str, Any]]:
    """What is in the log of this person about rights: the kind, about what, and who did it."""
    shown = {
        SecurityEventKind.REGISTERED,
        SecurityEventKind.ACCOUNT_DELETED,
        SecurityEventKind.RIGHTS_CHANGED,
        SecurityEventKind.GROUP_CHANGED,
        SecurityEventKind.DETAILS_CHANGED,
    }
    found = SecurityEvent.objects.filter(user_id=person.pk, kind__in=shown).order_by("id")
    return [(event.kind, event.about, event.actor_id) for event in found]


def right(codename: str) -> Permission:
    return Permission.objects.get(codename=codename)


@pytest.mark.spec(
    "Contract 15 Doors", "Every change of people, groups and permissions leaves a line in the log"
)
def test_people_and_their_rights_are_logged(ada_works: Client, ada: User, dana: User) -> None:
    ada_works.post("/admin/accounts/user/add/", RAE | NEW)
    rae = User.objects.get(email="rae@example.com")
    place = f"/admin/accounts/user/{rae.pk}"
    rights = {"user_permissions": right("change_user").pk, "is_superuser": "on", "is_staff": "on"}
    ada_works.post(f"{place}/change/", RAE | rights | {"name": "Rae R.", "is_active": "on"})
    ada_works.post(
        "/admin/accounts/user/", {"action": "delete_selected", "_selected_action": str(rae.pk), "post": "y"}
    )
    assert not User.objects.filter(pk=rae.pk).exists()
    assert lines(rae) == [
        ("REGISTERED", "Staff", ada.pk),
        ("RIGHTS_CHANGED", "Given: Reviewers", ada.pk),
        ("DETAILS_CHANGED", "Name, from Rae", ada.pk),
        ("RIGHTS_CHANGED", "is_superuser on", ada.pk),
        ("RIGHTS_CHANGED", "Taken: Reviewers", ada.pk),
        ("RIGHTS_CHANGED", "Given: Can change user", ada.pk),
        ("ACCOUNT_DELETED", "rae@example.com", ada.pk),
    ]


def test_groups_are_logged_for_their_members_and_for_who_changes_them(ada_works: Client, ada: User) -> None:
    rae = create_reviewer(email="rae@example.com", name="Rae")
    place = f"/admin/auth/group/{reviewer_group().pk}"
    before = [permission.pk for permission in reviewer_group().permissions.all()]
    given = [*before, right("change_user").pk]
    ada_works.post(f"{place}/change/", {"name": "Reviewers", "permissions": given})
    ada_works.post(f"{place}/change/", {"name": "Judges", "permissions": before})
    ada_works.post(f"{place}/delete/", {"post": "yes"})
    assert not Group.objects.filter(name="Judges").exists()
    happened = [
        "Reviewers: Given: Can change user",
        "Judges: Renamed from Reviewers",
        "Judges: Taken: Can change user",
        "Judges: Deleted",
    ]
    assert lines(rae)[2:] == [("GROUP_CHANGED", about, ada.pk) for about in happened]
    assert [about for kind, about, _ in lines(ada) if kind == "GROUP_CHANGED"] == happened
    ada_works.post("/admin/auth/group/add/", {"name": "Helpers", "permissions": [right("view_user").pk]})
    assert [about for _, about, _ in lines(ada)][-2:] == ["Helpers: Created", "Helpers: Given: Can view user"]


def test_rights_are_logged_without_a_request_and_from_the_other_side(dana: User) -> None:
    dana.is_staff = True
    dana.save()
    helpers = Group.objects.create(name="Helpers")
    helpers.user_set.add(dana)
    helpers.permissions.add(right("view_user"))
    right("view_user").group_set.clear()
    dana.groups.clear()
    assert [(kind, about) for kind, about, _ in lines(dana)] == [
        ("RIGHTS_CHANGED", "is_staff on"),
        ("RIGHTS_CHANGED", "Given: Helpers"),
        ("GROUP_CHANGED", "Helpers: Given: Can view user"),
        ("GROUP_CHANGED", "Helpers: Taken: Can view user"),
        ("RIGHTS_CHANGED", "Taken: Helpers"),
    ]


def test_own_pages_write_no_second_line(dana: User) -> None:
    browser = Client()
    browser.force_login(dana)
    browser.post("/accounts/profile/name/", {"name": "Dana D."})
    form = {"oldpassword": PASSWORD, "password1": "quite another one", "password2": "quite another one"}
    browser.post("/accounts/password/", form)
    kinds = SecurityEvent.objects.filter(user=dana).values_list("kind", flat=True)
    assert sorted(kinds) == ["PASSWORD_CHANGED", "SIGNED_IN"]

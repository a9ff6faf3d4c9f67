"""One account for an e-mail address, however it is spelt, at every door of accounts."""

from typing import Any
from unicodedata import normalize

import pytest
from django.core import mail
from django.test import Client

from accounts.email_keys import complete
from accounts.models import Business, SecurityEvent, Staff, User
from accounts.services.profile import ask_for_new_email
from accounts.services.sender import send_due
from accounts.tasks import mail_password_reset, record_failed_sign_in
from common.errors import Invalid
from marketplace.models import App, Membership
from marketplace.services.members import MEMBERS
from tests import factories
from tests.accounts.api import post, sign_in
from tests.clients import api_of
from tests.factories import PASSWORD
from tests.odd_contacts import BAD_EMAILS, EMAIL, EMAILS
from tests.pages import signed_in, words_of

SPEC = "Contract 15 Addresses and numbers of people"
OTHERS = [each for each in EMAILS if each.strip().lower() != "kim@bücher.example"]
FORMS = {  # a page with a field `email`, and what else it asks for
    "/accounts/register/": {"role": "DEVELOPER", "name": "Nora", "password": "a-long-passphrase-7"},
    "/accounts/login/": {"password": PASSWORD},
    "/accounts/password-reset/": {},
}

pytestmark = pytest.mark.django_db


@pytest.fixture
def kim() -> User:
    return factories.developer("kim@bücher.example", name="Kim")


def problems(answer: Any) -> set[str]:
    assert answer.status_code == 400, answer.content
    return {each["field"] for each in answer.json()["details"]}


@pytest.mark.long
@pytest.mark.spec(SPEC, "An address that is taken in any spelling is 409, and signs in in any")
def test_account_is_one_in_every_spelling(
    client: Client, newcomer: dict[str, Any], stopped_clock: None
) -> None:
    assert post(client, "/auth/register", newcomer | {"email": EMAILS[0]}).status_code == 201
    for spelling in EMAILS:
        assert post(client, "/auth/register", newcomer | {"email": spelling}).status_code == 409, ascii(
            spelling
        )
        assert sign_in(client, spelling, newcomer["password"]).status_code == 200, ascii(spelling)
    assert User.objects.get().email == "kim@bücher.example"


@pytest.mark.long
@pytest.mark.spec(SPEC, "An address without a normal form is a 400 that names the field")
def test_address_without_a_normal_form_refused(client: Client, newcomer: dict[str, Any]) -> None:
    for typed in BAD_EMAILS:
        if "\x00" not in typed:
            assert problems(post(client, "/auth/register", newcomer | {"email": typed})) == {"email"}, ascii(
                typed
            )
    for typed in BAD_EMAILS[:3] + BAD_EMAILS[-3:]:
        assert problems(sign_in(client, typed)) == {"email"}, ascii(typed)
    assert not User.objects.exists()


@pytest.mark.parametrize("path", FORMS)
def test_pages_refuse_it_at_its_field(client: Client, path: str) -> None:
    for typed, sentence in {
        "kim@bücher.example\u200b": "Enter the address without spaces and invisible characters",
        '"kim"@bücher.example': "Enter an e-mail address without quotes",
        "kim/x@bücher.example": "Enter an e-mail address without quotes",
    }.items():
        assert sentence in words_of(client.post(path, FORMS[path] | {"email": typed})), (path, ascii(typed))
    assert not mail.outbox
    assert not User.objects.exists()


def test_page_signs_in_by_another_spelling(kim: User, client: Client) -> None:
    page = client.post("/accounts/login/", {"email": "KIM@XN--BCHER-KVA.example", "password": PASSWORD})
    assert page.status_code == 302
    assert client.session["_auth_user_id"] == str(kim.pk)


def test_reset_is_mailed_to_the_account_of_any_spelling(kim: User) -> None:
    for spelling in OTHERS[:3]:
        mail_password_reset(spelling)
        send_due()
    assert [each.to for each in mail.outbox] == [[EMAIL]] * 3


@pytest.mark.spec(SPEC, "Limits count an address in all spellings")
def test_failures_count_for_all_spellings(kim: User, client: Client, stopped_clock: None) -> None:
    answers = [sign_in(client, each, "wrong").status_code for each in EMAILS[:11]]
    assert answers == [401] * 10 + [429]


def test_failure_is_noted_for_the_account(kim: User) -> None:
    record_failed_sign_in("kim@xn--bcher-kva.example", "", "")
    assert User.objects.get().pk == kim.pk
    assert SecurityEvent.objects.filter(user_id=kim.pk, kind="SIGN_IN_FAILED").count() == 1


def test_new_address_is_taken_in_any_spelling(kim: User, dana: User, tasks_run_at_once: None) -> None:
    for spelling in OTHERS[:2]:
        ask_for_new_email(user=dana, email=spelling)
        send_due()
    assert {(tuple(each.to), each.subject) for each in mail.outbox} == {((EMAIL,), mail.outbox[0].subject)}
    assert "already" in mail.outbox[0].body  # and no link by which it would be dana's
    with pytest.raises(Invalid):
        ask_for_new_email(user=kim, email=EMAIL)


@pytest.mark.long
@pytest.mark.spec(SPEC, "Who is invited in one spelling is invited in all")
def test_invitation_is_one_in_every_spelling(dana: User, shop: Business, app: App) -> None:
    api, page = api_of(dana), signed_in(shop.owner)
    path = f"/developer/apps/{app.pk}/members"
    answers = [api("post", path, {"email": each, "role": "VIEWER"}).status_code for each in EMAILS[5:11]]
    assert answers == [201] + [409] * 5
    for each in EMAILS[7:11]:
        page.post("/merchant/staff/", {"email": each, "role": "ORDERS"})
    assert [Membership.objects.filter(user=None).count(), Staff.objects.count()] == [1, 1]
    for typed in BAD_EMAILS[:3]:
        assert problems(api("post", path, {"email": typed, "role": "VIEWER"})) == {"email"}
        assert page.post("/merchant/staff/", {"email": typed, "role": "ORDERS"}).status_code == 422


def test_invitation_is_theirs_who_have_the_address_in_another_spelling(kim: User, app: App) -> None:
    row = Membership(app=app, email="kim@xn--bcher-kva.example")
    assert MEMBERS.why_not_accepted(row, kim) == ""
    assert MEMBERS.why_not_accepted(row, factories.developer("kim@bucher.example")) != ""


def test_app_is_offered_by_any_spelling(kim: User, app: App) -> None:
    factories.member(app, kim)
    offer = {"email": "Kim@XN--bcher-kva.example"}
    answer = api_of(app.developer)("post", f"/developer/apps/{app.pk}/transfer", offer).json()
    assert (answer["state"], answer["email"]) == ("OFFERED", "kim@bücher.example")


# --- Accounts of before there were keys -------------------------------------------------------------


def before(email: str, key: str | None = None) -> User:
    person = factories.developer(email)
    User.objects.filter(pk=person.pk).update(email=email, email_key=key)
    return person


@pytest.mark.parametrize(
    ("first", "second", "owner"),
    [
        ("kim@bücher.example", "kim@xn--bcher-kva.example", 1),
        ("kim@xn--bcher-kva.example", "kim@bücher.example", 0),
        ("kim@bücher.example", normalize("NFD", "kim@bücher.example"), 0),
    ],
)
def test_of_two_accounts_of_before_the_one_in_the_normal_form_gets_the_key(
    client: Client, first: str, second: str, owner: int
) -> None:
    people = [before("first@example.com"), before("second@example.com")]
    for person, email in zip(people, (first, second), strict=True):
        User.objects.filter(pk=person.pk).update(email=email, email_key=None)
    complete(User)
    complete(User)
    keys = [User.objects.get(pk=each.pk).email_key for each in people]
    assert keys[owner] == EMAIL
    assert keys[1 - owner] is None
    assert sign_in(client, "KIM@BÜCHER.example").status_code == 200
    if second.isascii() or first.isascii():
        for person, email in zip(people, (first, second), strict=True):
            assert sign_in(client, email).json()["user"]["id"] == str(person.pk)
    loser = User.objects.get(pk=people[1 - owner].pk)
    loser.name = "Renamed"
    loser.save()
    assert User.objects.get(pk=loser.pk).email_key is None


def test_account_of_before_with_an_odd_address_still_signs_in(client: Client) -> None:
    odd = before('"kim"@bücher.example')
    assert sign_in(client, '"Kim"@bücher.example').json()["user"]["id"] == str(odd.pk)
    assert problems(sign_in(client, '"kim"@bücher.example', "wrong")) == {"email"}
    page = client.post("/accounts/login/", {"email": '"kim"@bücher.example', "password": PASSWORD})
    assert page.status_code == 302


def test_account_of_a_version_before_is_found_without_a_key(client: Client, newcomer: dict[str, Any]) -> None:
    before("kim@bücher.example")
    assert sign_in(client, "Kim@Bücher.example").status_code == 200
    assert post(client, "/auth/register", newcomer | {"email": "kim@bücher.example"}).status_code == 409
    assert complete(User) == 1
    assert sign_in(client, EMAIL).status_code == 200


# --- Passwords --------------------------------------------------------------------------------------


def test_password_is_right_in_composed_and_decomposed_letters(
    client: Client, newcomer: dict[str, Any]
) -> None:
    typed = "café-größe-passwort"
    post(client, "/auth/register", newcomer | {"password": normalize("NFD", typed)})
    for form in ("NFC", "NFD"):
        assert sign_in(client, newcomer["email"], normalize(form, typed)).status_code == 200
    assert sign_in(client, newcomer["email"], "cafe-grosse-passwort").status_code == 401


def test_password_of_before_is_right_as_it_was_typed(client: Client) -> None:
    typed = normalize("NFD", "café-größe-passwort")
    factories.developer("nora@example.com", password=typed)
    assert sign_in(client, "nora@example.com", typed).status_code == 200

"""Signing in by the operator's identity provider: what people meet. `tests/security/test_provider_attacks.py` has what is refused."""

from collections.abc import Iterator
from typing import Any

import jwt
import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.models import AnonymousUser
from django.core import mail
from django.test import Client, RequestFactory, TestCase

from accounts.enums import SecurityEventKind
from accounts.models import Business, SecurityEvent, User
from accounts.services import connections
from accounts.services.confirmation import is_confirmed
from accounts.services.deletion import delete_account
from accounts.services.sender import send_due
from accounts.services.staff import STAFF
from accounts.sign_in import provider as by_provider
from tests import factories
from tests.accounts.api import assert_error, post, refresh, sign_in
from tests.accounts.providers import (
    HTML,
    KEY,
    OTHER_KEY,
    SECRET,
    HostileIssuer,
    leave,
    public_key,
    settings_of,
)
from tests.accounts.second_factor import code, set_up_app
from tests.factories import PASSWORD
from tests.pages import main_words_of, signed_in, text_of, unescaped, words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_run_at_once")]
SPEC = "Contract 16 People"


@pytest.fixture
def issuer(settings: Any) -> Iterator[HostileIssuer]:
    with HostileIssuer() as issuer:
        settings.IDENTITY_PROVIDER = settings_of(issuer.url)
        yield issuer


@pytest.fixture
def no_passwords(issuer: HostileIssuer, settings: Any) -> HostileIssuer:
    settings.PASSWORD_SIGN_IN = False
    return issuer


def come(browser: Client, issuer: HostileIssuer, page: str = "/accounts/oidc/login/", **fields: str) -> Any:
    return browser.get(issuer.authorize(leave(browser, page, **fields)), headers=HTML)


def is_signed_in(browser: Client) -> bool:
    return "_auth_user_id" in browser.session


def connected(user: User, issuer: HostileIssuer, subject: str = "person-1") -> None:
    SocialAccount.objects.create(user=user, provider=issuer.url, uid=subject, extra_data={})


def kinds_of(user: User) -> set[str]:
    return set(SecurityEvent.objects.filter(user=user).values_list("kind", flat=True))


# The first sign-in


@pytest.mark.spec(SPEC, "Without these settings everything is as before")
def test_site_without_a_provider_has_none_of_it(client: Client, dana: User) -> None:
    assert "oidc" not in text_of(client.get("/accounts/login/"))
    browser = signed_in(dana)
    assert "Connect" not in main_words_of(browser.get("/accounts/security/"))
    for path in ("oidc/login/", "oidc/login/callback/", "oidc/role/", "oidc/mail/", "oidc/mail/x/"):
        assert client.get(f"/accounts/{path}", headers=HTML).status_code in (302, 404)
    for path in ("oidc/login/", "oidc/connect/", "oidc/disconnect/", "prove/provider/"):
        assert browser.post(f"/accounts/{path}", headers=HTML).status_code == 404


@pytest.mark.spec(SPEC, "The button is **Sign in with LABEL**")
def test_page_has_the_button(issuer: HostileIssuer, client: Client) -> None:
    page = words_of(client.get("/accounts/login/?next=/portal/"))
    assert "Sign in with Atrium" in page
    assert "Forgot your password?" in page


def test_secret_and_verifier_stay_off_the_page(issuer: HostileIssuer, client: Client) -> None:
    page = client.post("/accounts/oidc/login/", headers=HTML).content.decode()
    (state,) = client.session["socialaccount_states"].values()
    assert SECRET not in page
    assert state[0]["pkce_code_verifier"] not in page


@pytest.mark.spec(SPEC, "`OIDC_ROLE` is the role of new people; unset, they choose")
@pytest.mark.parametrize(
    ("role", "first"), [("DEVELOPER", "/portal/"), ("MERCHANT", "/merchant/businesses/add/")]
)
def test_new_person_chooses_the_role(
    issuer: HostileIssuer, client: Client, settings: Any, role: str, first: str
) -> None:
    settings.IDENTITY_PROVIDER = settings_of(issuer.url, role="")
    page = come(client, issuer)
    assert page["Location"] == "/accounts/oidc/role/"
    assert not User.objects.exists()
    assert "nora@example.com" in words_of(client.get(page["Location"], headers=HTML))
    assert client.post(page["Location"], {"role": "REVIEWER"}, headers=HTML).status_code == 422
    assert client.post(page["Location"], {"role": role}, headers=HTML)["Location"] == first
    nora = User.objects.get()
    assert (nora.role, is_confirmed(nora), Business.objects.filter(owner=nora).count()) == (
        role,
        True,
        1 if role == "DEVELOPER" else 0,
    )
    assert client.get(first).status_code == 200


@pytest.mark.spec(SPEC, "A new MERCHANT has no store yet and is led to **Add a business**")
def test_new_merchant_adds_a_business(issuer: HostileIssuer, client: Client, settings: Any) -> None:
    settings.IDENTITY_PROVIDER = settings_of(issuer.url, role="MERCHANT")
    assert come(client, issuer)["Location"] == "/merchant/businesses/add/"
    assert not Business.objects.exists()


@pytest.mark.spec(SPEC, "A `name` that fails section 15's check becomes the address's local part")
@pytest.mark.parametrize(
    ("said", "email", "name"),
    [
        ("  Nora   Vale ", "nora@example.com", "Nora Vale"),
        ("Extension Platform", "nora@example.com", "nora"),
        ("https://evil.example/", "nora@example.com", "nora"),
        (None, "nora@example.com", "nora"),
        ("x" * 121, "nora@example.com", "nora"),
        ("Administrator", "support@example.com", "Developer"),
        (7, "nora@example.com", "nora"),
    ],
)
def test_name_of_a_new_person(
    issuer: HostileIssuer, client: Client, said: object, email: str, name: str
) -> None:
    issuer.claims |= {"name": said, "email": email}
    come(client, issuer)
    assert User.objects.get().name == name


@pytest.mark.spec(SPEC, "A missing `email` is read from userinfo with the same `sub`")
def test_address_from_userinfo(issuer: HostileIssuer, client: Client) -> None:
    issuer.claims |= {"email": None, "email_verified": None, "name": None}
    issuer.userinfo = {"sub": "person-1", "email": "n@example.com", "email_verified": True, "name": "N."}
    come(client, issuer)
    assert [(each.email, each.name) for each in User.objects.all()] == [("n@example.com", "N.")]


def test_address_and_its_proof_are_of_one_source(issuer: HostileIssuer, client: Client) -> None:
    issuer.claims |= {"email_verified": None}
    issuer.userinfo = {"sub": "person-1", "email": "n@example.com", "email_verified": True}
    come(client, issuer)
    assert not User.objects.exists()


@pytest.mark.spec(SPEC, "A changed address at the provider changes nothing here")
def test_address_changes_at_the_provider(issuer: HostileIssuer, client: Client) -> None:
    come(client, issuer)
    issuer.claims |= {"email": "other@example.com", "name": "Other"}
    again = Client()
    come(again, issuer)
    assert is_signed_in(again)
    assert [(each.email, each.name) for each in User.objects.all()] == [("nora@example.com", "Nora")]


def test_address_that_is_refused_here(issuer: HostileIssuer, client: Client) -> None:
    issuer.claims["email"] = "nora@-example-.com"
    answer = come(client, issuer)
    assert "can't be used here" in unescaped(client.get(answer["Location"], headers=HTML))
    assert not User.objects.exists()


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"issuer": "https://other.example"}, "can't be reached"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "can't be reached"),
        ({"authorization_endpoint": None}, "can't be reached"),
    ],
)
def test_provider_that_describes_itself_badly(
    issuer: HostileIssuer, client: Client, config: dict[str, Any], words: str
) -> None:
    issuer.config |= config
    page = client.post("/accounts/oidc/login/", {"next": "/portal/"}, headers=HTML)
    assert page["Location"] == "/accounts/login/?next=%2Fportal%2F"
    assert words in unescaped(client.get(page["Location"]))


def test_provider_changes_its_key(issuer: HostileIssuer, client: Client) -> None:
    come(client, issuer)
    issuer.asked.clear()
    come(Client(), issuer)
    assert issuer.asked == ["/token"], "Its description is remembered."
    issuer.keys = [public_key(OTHER_KEY, kid="two")]
    issuer.sign = lambda claims: jwt.encode(claims, OTHER_KEY, "RS256", {"kid": "two"})
    other = Client()
    come(other, issuer)
    assert is_signed_in(other)
    issuer.sign = lambda claims: jwt.encode(claims, KEY, "RS256", {"kid": "one"})
    late = Client()
    come(late, issuer)
    assert not is_signed_in(late), "The old key is gone."


def test_provider_is_away(client: Client, settings: Any) -> None:
    settings.IDENTITY_PROVIDER = settings_of("http://127.0.0.1:1")
    page = client.post("/accounts/oidc/login/", headers=HTML, follow=True)
    assert "Atrium can't be reached at the moment." in unescaped(page)


def test_closed_account_stays_closed(issuer: HostileIssuer, client: Client, dana: User) -> None:
    connected(dana, issuer)
    User.objects.update(is_active=False)
    come(client, issuer)
    assert not is_signed_in(client)


@pytest.mark.spec(SPEC, "A second factor set up here is asked for")
def test_second_factor_is_asked_for(issuer: HostileIssuer, client: Client, dana: User) -> None:
    connected(dana, issuer)
    secret = set_up_app(dana)
    assert come(client, issuer, next="/portal/")["Location"] == "/accounts/login/second-step/"
    assert not is_signed_in(client)
    assert client.post("/accounts/login/second-step/", {"code": code(secret)})["Location"] == "/portal/"


def test_other_person_comes_in_the_same_browser(issuer: HostileIssuer, dana: User) -> None:
    browser = signed_in(dana)
    come(browser, issuer)
    assert browser.session["_auth_user_id"] == str(User.objects.get(email="nora@example.com").pk)


# Connecting and disconnecting


@pytest.mark.spec(SPEC, "The person signs in and connects the two on the account page")
def test_account_is_connected_and_disconnected(issuer: HostileIssuer, dana: User) -> None:
    browser = signed_in(dana)
    assert "Connect Atrium" in main_words_of(browser.get("/accounts/security/"))
    with TestCase.captureOnCommitCallbacks(execute=True):
        answer = come(browser, issuer, "/accounts/oidc/connect/")
    assert answer["Location"] == "/accounts/security/"
    page = browser.get("/accounts/security/")
    assert "From now on you can sign in with Atrium." in words_of(page)
    assert "Disconnect Atrium" in main_words_of(page)
    assert "Signing in by Atrium was connected." in mail.outbox[0].body
    assert SecurityEventKind.PROVIDER_CONNECTED in kinds_of(dana)
    other = Client()
    come(other, issuer)
    assert other.session["_auth_user_id"] == str(dana.pk)

    with TestCase.captureOnCommitCallbacks(execute=True):
        browser.post("/accounts/oidc/disconnect/", headers=HTML)
    assert "Signing in by Atrium was disconnected." in mail.outbox[1].body
    assert SecurityEventKind.PROVIDER_DISCONNECTED in kinds_of(dana)
    assert not SocialAccount.objects.exists()


def test_connecting_needs_a_fresh_proof(issuer: HostileIssuer, dana: User, settings: Any) -> None:
    settings.STEP_UP = True
    browser = signed_in(dana)  # long ago
    for page in ("connect", "disconnect"):
        answer = browser.post(f"/accounts/oidc/{page}/", headers=HTML)
        assert answer["Location"].startswith("/accounts/prove/password/")
    browser.post("/accounts/oidc/connect/", headers=HTML)
    proof = {"password": PASSWORD, "next": "/accounts/oidc/connect/"}
    left = browser.post("/accounts/prove/password/", proof, headers=HTML)
    assert "Continue" in words_of(left)


def test_connection_is_of_one_person_on_each_side(issuer: HostileIssuer, dana: User) -> None:
    connected(dana, issuer, "person-0")
    browser = signed_in(dana)
    come(browser, issuer, "/accounts/oidc/connect/")
    assert "This account is connected to another sign-in at Atrium." in words_of(
        browser.get("/accounts/security/")
    )
    assert SocialAccount.objects.get().uid == "person-0"


@pytest.mark.spec(SPEC, "**Disconnect** is refused where it would leave no way to sign in")
def test_last_way_to_sign_in_stays(issuer: HostileIssuer, client: Client, settings: Any, dana: User) -> None:
    come(client, issuer)
    client.post("/accounts/oidc/disconnect/", headers=HTML)
    assert "Set a password first" in unescaped(client.get("/accounts/security/"))
    settings.PASSWORD_SIGN_IN = False
    connected(dana, issuer, "person-2")
    browser = signed_in(dana)  # has a password, which is of no use now
    browser.post("/accounts/oidc/disconnect/", headers=HTML)
    assert "you couldn't sign in any more" in unescaped(browser.get("/accounts/security/"))
    assert SocialAccount.objects.count() == 2


def test_connection_goes_with_the_account(issuer: HostileIssuer, dana: User) -> None:
    connected(dana, issuer)
    delete_account(user=dana)
    assert not SocialAccount.objects.exists()


# Without passwords


@pytest.mark.spec(SPEC, "With `off` registering and resetting pages are 404")
@pytest.mark.parametrize(
    "path",
    [
        "register/",
        "password-reset/",
        "password-reset/sent/",
        "password-reset/complete/",
        "password-reset/1-set-password/",
    ],
)
def test_pages_about_passwords_are_gone(no_passwords: HostileIssuer, client: Client, path: str) -> None:
    for ask in (client.get, client.post):
        assert ask(f"/accounts/{path}", headers=HTML).status_code == 404


@pytest.mark.spec(SPEC, "With `off` there are no password forms but the administration's")
def test_nobody_signs_in_by_password(no_passwords: HostileIssuer, client: Client, dana: User) -> None:
    page = client.get("/accounts/login/")
    assert 'type="password"' not in text_of(page)
    assert "Sign in with Atrium" in words_of(page)
    assert "Register" not in words_of(page)
    right = {"email": dana.email, "password": PASSWORD}
    assert client.post("/accounts/login/", right, headers=HTML).status_code == 404
    browser = signed_in(dana)
    for path in ("password/", "password/set/", "prove/password/"):
        assert browser.get(f"/accounts/{path}", headers=HTML).status_code == 404
    assert "Change password" not in words_of(browser.get("/accounts/security/"))
    assert client.post("/admin/login/", right, headers=HTML).status_code == 200
    assert not is_signed_in(client)


def test_staff_sign_in_to_the_administration(no_passwords: HostileIssuer, client: Client) -> None:
    rae = User.objects.create_superuser("rae@example.com", PASSWORD)
    assert client.get("/admin/", follow=True).redirect_chain[-1][0] == "/admin/login/?next=/admin/"
    page = client.get("/admin/login/?next=/admin/")
    assert 'type="password"' in text_of(page)
    wrong = client.post("/admin/login/", {"email": rae.email, "password": "wrong"}, headers=HTML)
    assert "Wrong e-mail address or password." in words_of(wrong)
    right = {"email": rae.email, "password": PASSWORD, "next": "/admin/"}
    assert client.post("/admin/login/", right, headers=HTML)["Location"] == "/admin/"


def test_administration_has_no_form_of_its_own_otherwise(client: Client) -> None:
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/accounts/login/?next=/admin/"
    assert client.post("/admin/login/")["Location"] == "/accounts/login/"


@pytest.mark.spec(
    SPEC, "`/auth/register` and `/auth/login` are 403 `password_sign_in_off`, `/auth/refresh` goes on"
)
def test_api_has_no_passwords(
    issuer: HostileIssuer, client: Client, dana: User, newcomer: dict[str, str], settings: Any
) -> None:
    pair = sign_in(client, dana.email).json()
    settings.PASSWORD_SIGN_IN = False
    for path, body in (("register", newcomer), ("login", {"email": dana.email, "password": PASSWORD})):
        refused = post(client, f"/auth/{path}", body)
        assert_error(refused, 403, "Forbidden")
        assert refused["X-Error-Code"] == "password_sign_in_off"
    assert refresh(client, pair["refreshToken"]).status_code == 200
    assert not User.objects.filter(email=newcomer["email"]).exists()


@pytest.mark.spec(SPEC, "With `off` invitations lead to the provider's button")
def test_invitation_leads_to_the_provider(
    no_passwords: HostileIssuer, client: Client, shop: Business, mira: User, settings: Any
) -> None:
    settings.IDENTITY_PROVIDER = settings_of(no_passwords.url, role="MERCHANT")
    member = STAFF.invite(shop, by=mira, email="nora@example.com", role="MANAGER")
    page = f"/merchant/invitations/{STAFF.token_of(STAFF.model.objects.get(pk=member.id))}/"
    shown = client.get(page, headers=HTML)
    assert 'type="password"' not in text_of(shown)
    assert "Sign in with Atrium" in words_of(shown)
    form = {"name": "Nora", "password": "a long walk home"}
    assert client.post(f"{page}register/", form, headers=HTML).status_code == 404
    assert come(client, no_passwords, next=page)["Location"] == page
    client.post(page, headers=HTML)
    assert STAFF.role_of(shop, User.objects.get(email="nora@example.com")) == "MANAGER"


def link_in_mail() -> str:
    send_due()
    words = str(mail.outbox[-1].body).split()
    (link,) = [word for word in words if "/accounts/oidc/mail/" in word]
    return "/" + link.partition("://")[2].partition("/")[2]


def ask_for_link(browser: Client, issuer: HostileIssuer) -> str:
    assert come(browser, issuer, next="/portal/")["Location"] == "/accounts/oidc/mail/"
    assert "There is an account with dana@example.com already." in words_of(
        browser.get("/accounts/oidc/mail/", headers=HTML)
    )
    mail.outbox.clear()
    with TestCase.captureOnCommitCallbacks(execute=True):
        browser.post("/accounts/oidc/mail/", headers=HTML)
    return link_in_mail()


@pytest.mark.spec(SPEC, "The link of the mail connects the two (second factor asked)")
def test_account_is_connected_by_mail(no_passwords: HostileIssuer, client: Client, dana: User) -> None:
    no_passwords.claims["email"] = dana.email
    secret = set_up_app(dana)
    link = ask_for_link(client, no_passwords)
    assert "Connect and sign in" in words_of(client.get(link, headers=HTML))
    assert not SocialAccount.objects.exists(), "Mail servers open links."
    assert client.post(link, headers=HTML)["Location"] == "/accounts/login/second-step/"
    assert not SocialAccount.objects.exists(), "The second factor is missing."
    assert client.post("/accounts/login/second-step/", {"code": code(secret)})["Location"] == "/portal/"
    assert [row.user for row in SocialAccount.objects.all()] == [dana]
    assert is_confirmed(dana)
    assert client.post(link, headers=HTML).status_code == 410


@pytest.mark.parametrize("seconds", [3590, 3610])
def test_link_works_for_an_hour(
    no_passwords: HostileIssuer, client: Client, dana: User, seconds: int, time_machine: Any
) -> None:
    time_machine.move_to("2026-11-29 12:00", tick=False)
    no_passwords.claims |= {"email": dana.email}
    link = ask_for_link(client, no_passwords)
    time_machine.shift(seconds)
    assert client.get(link, headers=HTML).status_code == (200 if seconds < 3600 else 410)


def test_account_of_another_person_at_the_provider_gets_no_mail(
    no_passwords: HostileIssuer, client: Client, dana: User
) -> None:
    """An address may have been given to somebody else."""
    connected(dana, no_passwords, "person-0")
    no_passwords.claims["email"] = dana.email
    assert come(client, no_passwords)["Location"] == "/accounts/login/"
    assert "connected to another sign-in at Atrium" in words_of(client.get("/accounts/login/"))


def test_account_that_has_no_other_way_in_is_connected_by_mail(
    issuer: HostileIssuer, client: Client, dana: User
) -> None:
    """It came from a provider that the operator had before."""
    dana.set_unusable_password()
    dana.save()
    issuer.claims["email"] = dana.email
    assert come(client, issuer)["Location"] == "/accounts/oidc/mail/"


def test_person_with_no_way_to_prove_signs_in_again(
    no_passwords: HostileIssuer, dana: User, settings: Any
) -> None:
    settings.STEP_UP = True
    browser = signed_in(dana)  # by a password, before
    answer = browser.post("/accounts/tokens/", {"name": "CI", "days": "90"}, headers=HTML)
    assert answer["Location"].startswith("/accounts/prove/provider/")
    assert "Sign out, then sign in with it." in words_of(browser.get(answer["Location"], headers=HTML))


def test_mails_name_no_page_that_is_gone(no_passwords: HostileIssuer, dana: User) -> None:
    connected(dana, no_passwords)
    with TestCase.captureOnCommitCallbacks(execute=True):
        connections.end_connections(user=dana)
        delete_account(user=dana)
    send_due()
    assert mail.outbox
    assert all("/register/" not in sent.body and "password-reset" not in sent.body for sent in mail.outbox)


def test_query_of_the_sign_in_page_of_a_provider_stays(settings: Any) -> None:
    settings.IDENTITY_PROVIDER = settings_of("https://login.example.com")
    request = RequestFactory().get("/")
    request.user = AnonymousUser()
    client = by_provider.Client(request, "id", "secret", "POST", "https://t.example/", "https://us.example/")
    url = client.get_redirect_url("https://login.example.com/authorize?p=policy", ["openid"], {"nonce": "n"})
    assert url.startswith("https://login.example.com/authorize?p=policy&client_id=id&")
    assert factories.PASSWORD not in url

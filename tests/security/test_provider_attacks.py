"""Attacks on signing in by an identity provider. Each must fail when its protection is taken out (`make test-attacks-unprotected`)."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import jwt
import pytest
from allauth.socialaccount.models import SocialAccount
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.test import Client, TestCase

from accounts.models import Mail, User
from accounts.services.sender import send_due
from accounts.sign_in import provider
from tests.accounts.providers import (
    CALLBACK,
    CLIENT,
    HTML,
    KEY,
    OTHER_KEY,
    SECRET,
    HostileIssuer,
    leave,
    settings_of,
)
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def issuer(settings: Any) -> Iterator[HostileIssuer]:
    with HostileIssuer() as issuer:
        settings.IDENTITY_PROVIDER = settings_of(issuer.url)
        yield issuer


def come(browser: Client, issuer: HostileIssuer, page: str = "", **response: str | None) -> Any:
    """Press the button, sign in there, and come back."""
    url = leave(browser, page) if page else leave(browser)
    return browser.get(issuer.authorize(url, **response), headers=HTML)


def is_signed_in(browser: Client) -> bool:
    return "_auth_user_id" in browser.session


def assert_refused(browser: Client, response: Any) -> None:
    assert not is_signed_in(browser)
    assert not User.objects.filter(email="nora@example.com").exists()
    assert response["Location"].startswith("/accounts/login/")
    assert 'role="status"' in browser.get(response["Location"], headers=HTML).content.decode()


def test_honest_issuer_signs_in(issuer: HostileIssuer, client: Client) -> None:
    """Or all that follows would prove nothing."""
    assert come(client, issuer)["Location"] == "/portal/"
    assert is_signed_in(client)


@pytest.mark.spec("Contract 16 People", "A first sign-in makes an account only with `email_verified: true`")
@pytest.mark.attack("verified addresses only")
@pytest.mark.parametrize("said", [False, None, "true", 1])
def test_somebody_says_to_have_an_unverified_address(
    issuer: HostileIssuer, client: Client, said: object
) -> None:
    issuer.claims["email_verified"] = said
    assert_refused(client, come(client, issuer))


@pytest.mark.spec("Contract 16 People", "An address that has an account is never matched to it")
@pytest.mark.attack("addresses open no account")
def test_provider_knows_the_address_of_an_account(issuer: HostileIssuer, client: Client, dana: User) -> None:
    issuer.claims["email"] = "Dana@Example.com"
    answer = come(client, issuer)
    assert not is_signed_in(client)
    assert not SocialAccount.objects.exists()
    assert answer["Location"] == "/accounts/login/?next=%2Faccounts%2Fsecurity%2F"
    words = words_of(client.get(answer["Location"], headers=HTML))
    assert "There is an account with dana@example.com already. Sign in to it, then connect Atrium" in words


def by_secret(claims: dict[str, Any]) -> str:
    return jwt.encode(claims, SECRET, "HS256", {"kid": "one"})


def by_public_key(claims: dict[str, Any]) -> str:
    """The key that everybody knows, as the secret of an HMAC."""
    known = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    header, signing = (
        jwt.encode(claims, "", "none", {"kid": "one"}).split(".")[:2],
        jwt.algorithms.HMACAlgorithm,
    )
    first = jwt.utils.base64url_encode(b'{"alg":"HS256","kid":"one","typ":"JWT"}').decode()
    body = f"{first}.{header[1]}"
    signed = signing(signing.SHA256).sign(body.encode(), known)
    return f"{body}.{jwt.utils.base64url_encode(signed).decode()}"


FORGERIES: dict[str, Callable[[dict[str, Any]], str]] = {
    "none": lambda claims: jwt.encode(claims, "", "none", {"kid": "one"}),
    "another key": lambda claims: jwt.encode(claims, OTHER_KEY, "RS256", {"kid": "one"}),
    "an unknown key": lambda claims: jwt.encode(claims, OTHER_KEY, "RS256", {"kid": "two"}),
    "the client's secret": by_secret,
    "the public key as a secret": by_public_key,
}


@pytest.mark.spec("Contract 16 People", "The signature of the ID token is checked")
@pytest.mark.attack("signatures of ID tokens")
@pytest.mark.parametrize("forged", FORGERIES.values(), ids=FORGERIES)
def test_token_is_forged(
    issuer: HostileIssuer, client: Client, forged: Callable[[dict[str, Any]], str]
) -> None:
    issuer.sign = forged  # type: ignore[assignment]
    assert_refused(client, come(client, issuer))


@pytest.mark.attack("issuer of ID tokens")
def test_token_is_of_another_issuer(issuer: HostileIssuer, client: Client) -> None:
    issuer.claims["iss"] = "https://other.example"
    assert_refused(client, come(client, issuer))


@pytest.mark.attack("audience of ID tokens")
def test_token_is_for_another_client(issuer: HostileIssuer, client: Client) -> None:
    issuer.claims["aud"] = "another-client"
    assert_refused(client, come(client, issuer))


@pytest.mark.attack("authorized party of ID tokens")
@pytest.mark.parametrize("party", ["another-client", None])
def test_token_for_several_was_made_for_another(
    issuer: HostileIssuer, client: Client, party: str | None
) -> None:
    issuer.claims |= {"aud": [CLIENT, "another-client"], "azp": party}
    assert_refused(client, come(client, issuer))


@pytest.mark.attack("end of ID tokens")
def test_token_has_expired(issuer: HostileIssuer, client: Client) -> None:
    issuer.claims["exp"] = int(time.time()) - 120
    assert_refused(client, come(client, issuer))


@pytest.mark.attack("nonce")
@pytest.mark.parametrize("nonce", ["of-another-sign-in", None])
def test_token_of_another_sign_in_is_slipped_in(
    issuer: HostileIssuer, client: Client, nonce: str | None
) -> None:
    issuer.claims["nonce"] = nonce
    assert_refused(client, come(client, issuer))


@pytest.mark.spec("Contract 16 People", "`state` is checked")
@pytest.mark.attack("state of the browser")
@pytest.mark.parametrize("begun", [True, False])
def test_victim_is_sent_to_the_answer_of_an_attacker(
    issuer: HostileIssuer, client: Client, begun: bool
) -> None:
    """Or the victim would work in an account of the attacker."""
    attackers = issuer.authorize(leave(Client()))
    if begun:
        leave(client)
    issuer.asked.clear()
    answer = client.get(attackers, headers=HTML)
    assert_refused(client, answer)
    assert issuer.asked == [], "Nothing of the attacker's answer may be used."


@pytest.mark.attack("states that work once")
def test_answer_is_replayed(issuer: HostileIssuer, client: Client) -> None:
    issuer.forgets_codes = False
    answer = issuer.authorize(leave(client))
    assert client.get(answer, headers=HTML)["Location"] == "/portal/"
    issuer.asked.clear()
    assert client.get(answer, headers=HTML)["Location"] == "/accounts/login/"
    assert issuer.asked == []


@pytest.mark.spec("Contract 16 People", "The issuer of the response is checked")
@pytest.mark.attack("issuer of responses")
@pytest.mark.parametrize("said", ["https://other.example", None])
def test_two_issuers_are_mixed_up(issuer: HostileIssuer, client: Client, said: str | None) -> None:
    """The code of an honest issuer must not be sent to a hostile one."""
    issuer.config["authorization_response_iss_parameter_supported"] = True
    answer = come(client, issuer, iss=said)
    assert "/token" not in issuer.asked
    assert_refused(client, answer)


@pytest.mark.attack("issuer of descriptions")
def test_issuer_describes_another_one(issuer: HostileIssuer, client: Client) -> None:
    url = leave(client)
    provider.forget()
    issuer.config["issuer"] = "https://other.example"
    assert_refused(client, client.get(issuer.authorize(url), headers=HTML))


@pytest.mark.attack("issuer in the key of a connection")
def test_people_of_an_earlier_provider_are_others(issuer: HostileIssuer, client: Client, dana: User) -> None:
    """Each provider counts its people from one."""
    SocialAccount.objects.create(user=dana, provider="https://earlier.example", uid="person-1")
    come(client, issuer)
    assert client.session["_auth_user_id"] != str(dana.pk)


@pytest.mark.attack("subject of userinfo")
def test_userinfo_is_about_somebody_else(issuer: HostileIssuer, client: Client) -> None:
    issuer.claims |= {"email": None, "email_verified": None}
    issuer.userinfo = {"sub": "person-2", "email": "nora@example.com", "email_verified": True}
    assert_refused(client, come(client, issuer))


@pytest.mark.attack("own pages after the provider")
@pytest.mark.parametrize(
    "to", ["https://evil.example/", "//evil.example", "/\\evil.example", "http://stores.test/"]
)
def test_link_to_the_sign_in_leads_elsewhere_afterwards(
    issuer: HostileIssuer, client: Client, to: str
) -> None:
    answer = client.get(issuer.authorize(leave(client, next=to)), headers=HTML)
    assert answer["Location"] == "/portal/"


def test_link_adds_to_the_request_to_the_provider(issuer: HostileIssuer, client: Client) -> None:
    """The library would put these into it."""
    page = "/accounts/oidc/login/?auth_params=prompt%3Dnone&scope=offline_access&process=connect"
    url = leave(client, page)
    assert "prompt" not in url
    assert "offline_access" not in url


# A fresh proof


@pytest.fixture
def nora(issuer: HostileIssuer, client: Client, settings: Any) -> User:
    settings.STEP_UP = True
    come(client, issuer)
    return User.objects.get(email="nora@example.com")


def make_token(browser: Client) -> Any:
    return browser.post("/accounts/tokens/", {"name": "CI", "days": "90"}, headers=HTML)


def prove(browser: Client, issuer: HostileIssuer) -> Any:
    assert make_token(browser).get("Location", "").startswith("/accounts/prove/provider/")
    url = leave(browser, "/accounts/prove/provider/", next="/accounts/tokens/")
    assert "max_age=0" in url
    return browser.get(issuer.authorize(url), headers=HTML)


def test_fresh_proof_is_enough(issuer: HostileIssuer, client: Client, nora: User) -> None:
    assert "fbdt_" in prove(client, issuer).content.decode()
    again = client.post("/accounts/tokens/", {"name": "CI 2", "days": "90"}, headers=HTML)
    assert "fbdt_" in again.content.decode(), "For the next minutes there is no other question."


@pytest.mark.spec("Contract 16 People", "`auth_time` is checked")
@pytest.mark.attack("time of the proof")
@pytest.mark.parametrize("before", [600, None])
def test_provider_lets_an_open_session_prove(
    issuer: HostileIssuer, client: Client, nora: User, before: int | None
) -> None:
    issuer.claims["auth_time"] = int(time.time()) - before if before else "now"
    answer = prove(client, issuer)
    assert answer.get("Location", "") == "/accounts/prove/provider/?next=%2Faccounts%2Ftokens%2F"
    assert make_token(client).status_code == 302


@pytest.mark.attack("person of the proof")
def test_somebody_else_proves_at_the_provider(issuer: HostileIssuer, client: Client, nora: User) -> None:
    issuer.claims["sub"] = "person-2"
    assert prove(client, issuer).get("Location", "").startswith("/accounts/prove/provider/")
    assert make_token(client).status_code == 302


@pytest.mark.attack("sign-ins that prove nothing")
def test_provider_signs_in_without_asking(issuer: HostileIssuer, client: Client, nora: User) -> None:
    """At an open browser, signing out and in again must not be a proof."""
    client.post("/accounts/logout/")
    come(client, issuer)
    assert make_token(client).get("Location", "").startswith("/accounts/prove/provider/")


@pytest.mark.attack("proof before a second factor")
@pytest.mark.parametrize("page", ["security/app/", "security/passkeys/add/", "password/set/"])
def test_open_browser_adds_its_own_way_to_sign_in(
    issuer: HostileIssuer, client: Client, nora: User, page: str, settings: Any
) -> None:
    """The library asks only people who have a password or a second factor."""
    settings.BASE_URL = "https://platform.example"  # passkeys need a name
    answer = client.get(f"/accounts/{page}", headers=HTML)
    assert answer.status_code == 302
    assert answer.get("Location", "").startswith("/accounts/prove/provider/")


# Connecting


@pytest.mark.attack("one account for a person at the provider")
def test_account_takes_a_sign_in_of_another(
    issuer: HostileIssuer, client: Client, nora: User, sam: User, settings: Any
) -> None:
    settings.STEP_UP = False
    browser = signed_in(sam)
    answer = come(browser, issuer, "/accounts/oidc/connect/")
    assert [row.user for row in SocialAccount.objects.all()] == [nora]
    assert "connected to another account here" in words_of(
        browser.get(answer.get("Location", ""), headers=HTML)
    )


@pytest.mark.spec("Contract 16 People", "The link of the mail works in the same browser")
@pytest.mark.attack("browser of the mailed link")
def test_mailed_link_is_followed_in_another_browser(
    issuer: HostileIssuer, client: Client, dana: User, settings: Any, mailoutbox: Any
) -> None:
    """Else an attacker could ask for the mail, and the victim, who follows the link, would connect the attacker."""
    settings.PASSWORD_SIGN_IN = False
    issuer.claims["email"] = dana.email
    path = link_to(client, issuer, mailoutbox)
    other = Client()
    issuer.claims["sub"] = "person-2"
    assert come(other, issuer).get("Location", "") == "/accounts/oidc/mail/"
    assert other.post(path, headers=HTML).status_code == 410
    assert not is_signed_in(other)
    assert not SocialAccount.objects.exists()


def link_to(browser: Client, issuer: HostileIssuer, mailoutbox: Any) -> str:
    assert come(browser, issuer).get("Location", "") == "/accounts/oidc/mail/"
    with TestCase.captureOnCommitCallbacks(execute=True):
        browser.post("/accounts/oidc/mail/", headers=HTML)
    send_due()
    assert not Mail.objects.exists()
    (link,) = [word for word in mailoutbox[-1].body.split() if CALLBACK.rpartition("login")[0] in word]
    return "/" + link.partition("://")[2].partition("/")[2]

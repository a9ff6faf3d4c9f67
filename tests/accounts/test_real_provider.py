"""Sign-in by a provider that somebody else wrote (npm's `oidc-provider`), as a process beside the test."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from allauth.socialaccount.models import SocialAccount
from django.conf import settings as platform
from django.test import Client

from accounts.models import Business, User
from accounts.services.confirmation import is_confirmed
from tests.accounts.providers import CALLBACK, HTML, RealProvider, leave, real_provider, settings_of
from tests.pages import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.timed, pytest.mark.long]


@pytest.fixture(scope="module")
def running() -> Iterator[RealProvider]:
    with real_provider(f"{platform.BASE_URL}{CALLBACK}") as provider:
        yield provider


@pytest.fixture
def provider(running: RealProvider, settings: Any) -> RealProvider:
    settings.IDENTITY_PROVIDER = settings_of(running.url)
    return running


def back(browser: Client, target: str) -> Any:
    return browser.get(target.removeprefix(platform.BASE_URL), headers=HTML)


@pytest.mark.spec("Contract 16 People", "A person signs in by the operator's provider")
def test_person_comes_and_comes_again(provider: RealProvider, client: Client) -> None:
    answer = back(client, provider.sign_in(leave(client, next="/portal/"), "nora"))
    assert answer["Location"] == "/portal/"
    nora = User.objects.get(email="nora@example.com")
    assert (nora.name, nora.role, is_confirmed(nora)) == ("Nora Example", "DEVELOPER", True)
    assert not nora.has_usable_password()
    assert Business.objects.sandbox_of(nora)
    assert client.get("/portal/", headers=HTML).status_code == 200
    row = SocialAccount.objects.get()
    assert (row.provider, row.uid, row.extra_data) == (provider.url, "nora", {})

    again = Client()
    assert back(again, provider.sign_in(leave(again), "nora"))["Location"] == "/accounts/"
    assert again.session["_auth_user_id"] == str(nora.pk)
    assert User.objects.count() == 1


def test_unverified_address_makes_no_account(provider: RealProvider, client: Client) -> None:
    answer = back(client, provider.sign_in(leave(client), "unknown"))
    assert "doesn’t say that your e-mail address is verified" in words_of(client.get(answer["Location"]))
    assert not User.objects.exists()


@pytest.mark.spec("Contract 16 People", "A fresh proof is the provider with max_age=0")
def test_provider_asks_again_for_a_fresh_proof(provider: RealProvider, client: Client, settings: Any) -> None:
    settings.STEP_UP = True
    profile_at_provider = requests.Session()
    back(client, provider.sign_in(leave(client), "nora", profile_at_provider))
    form = {"name": "CI", "days": "90"}
    asked = client.post("/accounts/tokens/", form, headers=HTML)
    assert urlsplit(asked["Location"]).path == "/accounts/prove/provider/"
    seen = provider.pages_seen
    url = leave(client, "/accounts/prove/provider/", next="/accounts/tokens/")
    answer = back(client, provider.sign_in(url, "nora", profile_at_provider))
    assert provider.pages_seen > seen, "The provider has a session, and must ask all the same."
    assert "fbdt_" in answer.content.decode(), answer.content.decode()[:2000]


def test_cancelled_at_the_provider(provider: RealProvider, client: Client) -> None:
    state = leave(client, next="/portal/").partition("state=")[2].partition("&")[0]
    answer = client.get(f"{CALLBACK}?error=access_denied&state={state}&iss={provider.url}", headers=HTML)
    assert answer["Location"] == "/accounts/login/?next=%2Fportal%2F"
    assert "You didn’t sign in at Atrium." in words_of(client.get(answer["Location"]))

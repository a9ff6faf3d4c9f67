"""Authorization requests that are too long for a `next`: the way through signing in and back."""

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from django.db import connections
from django.test import Client, TestCase

from accounts.models import User
from accounts.sign_in import ways
from common.web.requests import LONGEST, is_own_page
from marketplace.models import App
from merchants.consent.views import KEPT_FROM
from tests import factories
from tests.accounts.second_factor import code, set_up_app
from tests.factories import PASSWORD
from tests.installations.oauth_client import address
from tests.security.sites import waitress

SPEC = pytest.mark.spec("Contract 15 Doors", "A state of 4,000 characters survives signing in")
STATES = {"letters": "s" * 4000, "JSON": '{"a": ["' + '", "'.join(["ü/&?"] * 200) + '"]}'}
NORA = {
    "role": "MERCHANT", "name": "Nora", "email": "nora@example.com", "password": "a long walk home",
    "business_name": "Nora's", "currency": "EUR",
}  # fmt: skip


@pytest.fixture
def listed(app: App) -> App:
    factories.approve(app)
    return app


@pytest.fixture(params=STATES)
def state(request: pytest.FixtureRequest) -> str:
    return STATES[request.param]


def of_length(app: App, characters: int) -> str:
    return address(app, state="x" * (characters - len(address(app, state=""))))


def begun(client: Client, app: App, state: str) -> str:
    """Begin signed out; the `next` of the sign-in page, which has it in its form and in the link to the other page."""
    page = client.get(address(app, state=state), follow=True)
    kept = kept_of(page.redirect_chain[0][0])
    assert len(kept) < 100
    html = page.content.decode()
    assert f'name="next" value="{kept}"' in html
    assert f"/accounts/register/?next={kept}" in html
    return kept


def kept_of(login: str) -> str:
    assert login.startswith("/accounts/login/?next=")
    return parse_qs(urlsplit(login).query)["next"][0]


def comes_back(client: Client, response: Any, state: str) -> None:
    """From the answer to the last form to the consent page, whose answer has the state."""
    page = client.get(response["Location"], follow=True)
    assert page.status_code == 200
    path = page.request["PATH_INFO"] + "?" + page.request["QUERY_STRING"]
    answer = client.post(path, {"scopes": " ".join(page.context["page"].scopes), "answer": "install"})
    assert parse_qs(urlsplit(answer["Location"]).query)["state"] == [state]


@pytest.mark.long
@SPEC
def test_through_a_mistyped_password_and_a_second_factor(
    client: Client, listed: App, mira: User, state: str
) -> None:
    secret = set_up_app(mira)
    body = {"email": mira.email, "next": begun(client, listed, state)}
    mistyped = client.post("/accounts/login/", body | {"password": "wrong"}).content.decode()
    assert f'name="next" value="{body["next"]}"' in mistyped
    second = client.post("/accounts/login/", body | {"password": PASSWORD})
    assert second.status_code == 302
    comes_back(client, client.post(second["Location"], {"code": code(secret)}), state)


@pytest.mark.long
@SPEC
def test_through_registration(client: Client, listed: App, state: str) -> None:
    body = NORA | {"next": begun(client, listed, state)}
    comes_back(client, client.post("/accounts/register/", body), state)


@pytest.mark.long
@SPEC
@pytest.mark.usefixtures("tasks_run_at_once")
def test_through_a_confirmation_in_the_same_browser(
    client: Client, listed: App, settings: Any, mailoutbox: Any
) -> None:
    settings.CONFIRM_ADDRESSES = True
    state = STATES["letters"]
    with TestCase.captureOnCommitCallbacks(execute=True):
        client.post("/accounts/register/", NORA | {"next": begun(client, listed, state)})
    link = urlsplit(re.search(r"http://testserver\S+confirm-email/\S+", mailoutbox[-1].body)[0])  # type: ignore[index]
    back = parse_qs(link.query)["next"][0]
    assert client.post(link.path, {"next": back})["Location"] == back
    assert b"any more. Go back to the app" in Client().get(back).content, "another browser"
    signed = client.post(
        "/accounts/login/", {"email": NORA["email"], "password": NORA["password"], "next": back}
    )
    comes_back(client, signed, state)


@pytest.mark.long
@SPEC
def test_through_another_account(client: Client, listed: App, mira: User, dana: User, state: str) -> None:
    client.force_login(factories.merchant("tom@example.com"))
    page = " ".join(client.get(address(listed, state=state)).content.decode().split())
    (back,) = re.findall(r'action="/accounts/logout/">.*?name="next" value="([^"]+)"', page)
    out = client.post("/accounts/logout/", {"next": unescape(back)})
    login = client.get(out["Location"])
    kept = kept_of(login["Location"])
    comes_back(
        client,
        client.post("/accounts/login/", {"email": mira.email, "password": PASSWORD, "next": kept}),
        state,
    )


@pytest.mark.long
def test_requests_are_kept_in_bounds(client: Client, listed: App, mira: User) -> None:
    first = begun(client, listed, "x" * 4000)
    assert begun(client, listed, "x" * 4000) == first, "the same one is kept once"
    for number in (*range(ways.MOST_KEPT), 1):  # one of them twice, which makes no other go
        begun(client, listed, f"{number}" * 4000)
    assert len(client.session["kept_ways"]) == ways.MOST_KEPT
    client.force_login(mira)
    page = client.get(first)
    assert (page.status_code, b"Go back to the app, and start again" in page.content) == (410, True)
    assert b"report this" not in page.content
    assert client.get(of_length(listed, LONGEST)).status_code == 200
    too_long = client.get(of_length(listed, LONGEST + 1))
    assert (too_long.status_code, b"This link is too long" in too_long.content) == (400, True)


@pytest.mark.usefixtures("stopped_clock")
def test_sixty_first_long_request_of_an_address_refused(client: Client, listed: App) -> None:
    """Each may begin a session, before anybody signs in. Ordinary ones keep nothing."""
    for _ in range(60):
        assert client.get(address(listed, state="x" * KEPT_FROM)).status_code == 302
    assert client.get(address(listed, state="x" * KEPT_FROM)).status_code == 429
    assert client.get(address(listed)).status_code == 302


def test_ordinary_request_leaves_no_session(client: Client, listed: App) -> None:
    longest = of_length(listed, KEPT_FROM)
    login = client.get(longest)
    assert kept_of(login["Location"]) == longest
    assert not login.cookies


@pytest.mark.parametrize(
    "start",
    ["//evil.example/", "/\\evil.example/", "https://evil.example/", "/\t/evil.example/", "/x\n/", "/ü"],
)
def test_long_next_to_elsewhere_is_none(rf: Any, start: str) -> None:
    request = rf.get("/")
    assert not is_own_page(start + "a" * 3000, request)
    assert not is_own_page("/" + "\t" * 3000 + "/evil.example/", request)
    assert not is_own_page("/" + "a" * LONGEST, request)
    assert is_own_page("/oauth/authorize?state=" + "a" * 4000, request)


@pytest.mark.long
@SPEC
@pytest.mark.timed
@pytest.mark.django_db(transaction=True)
def test_over_http(listed: App, mira: User, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(connections.databases["default"], "CONN_MAX_AGE", 0)
    settings.ALLOWED_HOSTS = ["127.0.0.1"]
    with waitress() as port, requests.Session() as browser:
        settings.BASE_URL = site = f"http://127.0.0.1:{port}"
        page = browser.get(site + address(listed, state=STATES["letters"]), timeout=10)
        fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
        body = fields | {"email": mira.email, "password": PASSWORD}
        consent = browser.post(f"{site}/accounts/login/", body, headers={"Referer": page.url}, timeout=10)
        assert "wants to connect to" in consent.text
        fields = dict(
            re.findall(r'name="(csrfmiddlewaretoken|scopes|version)" value="([^"]*)"', consent.text)
        )
        answer = browser.post(
            consent.url,
            fields | {"answer": "install"},
            headers={"Referer": consent.url},
            allow_redirects=False,
            timeout=10,
        )
        assert parse_qs(urlsplit(answer.headers["Location"]).query)["state"] == [STATES["letters"]]

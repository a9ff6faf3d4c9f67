"""What signs a person in, what ends it, and what can't be made before the address is confirmed."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.apps import apps
from django.core import mail
from django.db import models
from django.test import Client, TestCase

from accounts.enums import TokenRight
from accounts.models import (
    Business,
    DeveloperToken,
    DeviceGrant,
    SecurityEvent,
    Session,
    ShopPerson,
    SignIn,
    Staff,
    User,
    WrongCode,
)
from accounts.services.connections import account_of
from accounts.services.deletion import SIGN_INS
from accounts.services.developer_tokens import create_developer_token
from accounts.services.sender import send_due
from accounts.sign_in.provider import Identity
from common.errors import Conflict
from installations.models import Installation
from marketplace.models import App
from tests import factories
from tests.accounts.api import assert_error, post, refresh, sign_in
from tests.accounts.developer_tokens import apps as call_apps
from tests.accounts.developer_tokens import create, redeem, refusal, start
from tests.accounts.passkeys import Passkey
from tests.accounts.password_reset import ask, choose
from tests.pages import words_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_run_at_once", "stopped_clock")]

NEW = "seven quiet gardens"
Works = Callable[[], bool]


def browser_of(user: User) -> Client:
    browser = Client()
    answer = browser.post("/accounts/login/", {"email": user.email, "password": factories.PASSWORD})
    assert answer.status_code == 302
    return browser


def session(user: User) -> Works:
    browser = browser_of(user)
    return lambda: browser.get("/portal/").status_code == 200


def sign_in_to_api(user: User) -> Works:
    pair = sign_in(Client(), user.email).json()
    return lambda: (
        call_apps(pair["accessToken"]).status_code == 200
        or refresh(Client(), pair["refreshToken"]).status_code == 200
    )


def developer_token(user: User) -> Works:
    token = create(browser_of(user))
    return lambda: call_apps(token).status_code == 200


def command_line(user: User) -> Works:
    """Let in, but without a token yet. Redeeming a code uses it up, so there is another one for later."""
    waiting = [start(), start()]
    for codes in waiting:
        form = {"user_code": codes["user_code"], "answer": "allow"}
        assert browser_of(user).post("/portal/device/", form).status_code == 302
    return lambda: redeem(waiting.pop()).status_code == 200


def passkey(user: User) -> Works:
    key = Passkey(user, browser_of(user))

    def works() -> bool:
        browser = Client()
        key.sign_in(browser)
        return "_auth_user_id" in browser.session

    return works


def identity_provider(user: User) -> Works:
    """At a provider that says so for the person of the row."""
    SocialAccount.objects.create(user=user, provider="https://login.example", uid="person-1")

    def works() -> bool:
        found = account_of(Identity("https://login.example", "person-1", user.email, user.name))
        return found == user

    return works


# How one gets in with a row of each model. A new model in `SIGN_INS` needs a line here.
WAYS = {
    Session: session,
    SignIn: sign_in_to_api,
    DeveloperToken: developer_token,
    DeviceGrant: command_line,
    Authenticator: passkey,
    SocialAccount: identity_provider,
}


@pytest.fixture
def domain(settings: Any) -> None:
    """Passkeys need a domain name and TLS."""
    settings.BASE_URL = "https://testserver"


def reset(user: User) -> None:
    send_due()
    mail.outbox.clear()
    ask(Client(), user.email)
    found = re.search(r"https?://testserver(/accounts/password-reset/\S+)", str(mail.outbox[0].body))
    assert found
    assert b"Your new password is saved" in choose(Client(), found[1], NEW).content


@pytest.mark.spec("Contract 15 Doors", "A password reset by mail ends everything that signs in")
@pytest.mark.usefixtures("domain")
@pytest.mark.parametrize("model", SIGN_INS, ids=lambda model: model.__name__)
def test_reset_ends_what_signs_in(dana: User, model: type[models.Model]) -> None:
    works = WAYS[model](dana)
    assert works()
    reset(dana)
    assert not works()


def test_every_row_about_a_person_signs_in_or_does_not() -> None:
    """A new model of the account's apps has to be put into one of the two."""
    others = {Business, EmailAddress, SecurityEvent, ShopPerson, Staff, WrongCode}
    found = {
        model
        for label in ("accounts", "account", "mfa", "socialaccount")
        for model in apps.get_app_config(label).get_models()
        if any(field.related_model is User for field in model._meta.get_fields() if field.concrete)
    }
    assert found == {*SIGN_INS} | others


@pytest.mark.usefixtures("domain")
def test_reset_leaves_passkeys_as_a_second_factor(dana: User) -> None:
    key = Passkey(dana, browser_of(dana))
    reset(dana)
    page = key.sign_in(Client())
    assert page["Location"] == "/accounts/login/"
    browser = Client()
    answer = browser.post("/accounts/login/", {"email": dana.email, "password": NEW})
    assert answer["Location"] == "/accounts/login/second-step/"


def test_changed_password_leaves_tokens(dana: User) -> None:
    works, browser = developer_token(dana), browser_of(dana)
    form = {"oldpassword": factories.PASSWORD, "password1": NEW, "password2": NEW}
    assert browser.post("/accounts/password/", form).status_code == 302
    assert works()


def test_password_that_an_administrator_sets_ends_tokens(dana: User) -> None:
    works, browser = developer_token(dana), Client()
    browser.force_login(User.objects.create_superuser("ada@example.com", factories.PASSWORD))
    form = {"usable_password": "true", "password1": NEW, "password2": NEW}
    assert browser.post(f"/admin/accounts/user/{dana.pk}/password/", form).status_code == 302
    assert not works()


def test_token_that_was_asked_for_before_the_reset_is_not_made_after_it(dana: User) -> None:
    """The request had read the person when the reset began."""
    reset(User.objects.get(pk=dana.pk))
    with pytest.raises(Conflict):
        create_developer_token(user=dana, name="CI", lifetime=timedelta(days=1))


@pytest.mark.spec("Contract 15 Doors", "Ending all other sessions names the tokens and offers to end them")
def test_ending_all_sessions_offers_to_end_the_tokens(dana: User) -> None:
    works, let_in, browser = developer_token(dana), command_line(dana), browser_of(dana)
    page = browser.get("/accounts/sessions/").content.decode()
    assert re.search(r'name="tokens".*CI', page, re.DOTALL)
    browser.post("/accounts/sessions/end/", {"others": "1"})
    assert (works(), let_in()) == (True, False)
    browser.post("/accounts/sessions/end/", {"others": "1", "tokens": "on"})
    assert not works()
    assert not DeveloperToken.objects.filter(revoked_at=None).exists()
    assert 'name="tokens"' not in browser.get("/accounts/sessions/").content.decode()


# Before the address is confirmed


@pytest.fixture
def confirming(settings: Any) -> None:
    settings.CONFIRM_ADDRESSES = True


def code_of(answer: Any) -> int:
    assert "Confirm your e-mail address first" in answer.content.decode()
    return answer.status_code


@pytest.mark.long
@pytest.mark.spec(
    "Contract 15 Doors", "Nothing that outlives a session is made before the address is confirmed"
)
@pytest.mark.usefixtures("confirming")
def test_nothing_lasting_before_the_address_is_confirmed(dana: User, app: App) -> None:
    codes, browser, once = start(), browser_of(dana), {"form_token": "once"}
    api = bearer(sign_in(Client(), dana.email).json()["accessToken"])
    fields = {"name": "Bell", "slug": "bell", "description": "It rings.", "category": "other"}
    body = fields | {"scopes": ["read_orders"], "redirectUrl": "https://bell.example/back"}
    store = f"/portal/apps/{app.slug}/test/"
    answers = {
        "token": browser.post("/accounts/tokens/", {"name": "CI", "days": 30}),
        "token, before its fields are read": browser.post("/accounts/tokens/", {}),
        "device": browser.post("/portal/device/", {"user_code": codes["user_code"], "answer": "allow"}),
        "app": post(api, "/developer/apps", body),
        "app, before its body is read": post(api, "/developer/apps", {}),
        "app's page": browser.post("/portal/create/", {"name": "Bell"} | once),
        "install": post(api, f"/developer/apps/{app.pk}/test-install", {}),
        "install's page": browser.post(store, once),
        "consent": browser.get(f"/oauth/authorize?client_id={app.client_id}"),
    }
    assert {name: code_of(answer) for name, answer in answers.items()} == dict.fromkeys(answers, 403)
    page = words_of(browser.get("/accounts/tokens/")).replace("’", "'")
    assert (
        f"You can't create tokens until your e-mail address is confirmed. Follow the link that we sent to {dana.email}."
        in page
    )
    assert "Until then you can't create apps, tokens or test installs" in page
    assert refusal(redeem(codes)) == "authorization_pending"
    assert (DeveloperToken.objects.count(), App.objects.count(), Installation.objects.count()) == (0, 1, 0)
    EmailAddress.objects.create(user=dana, email=dana.email, verified=True)
    assert create(browser, "CI").startswith("fbdt_")
    assert post(api, "/developer/apps", body).status_code == 201
    assert b'value="fbat_' in browser.post(store, once).content  # the refused form was not used up


@pytest.mark.usefixtures("confirming", "domain")
def test_no_second_factor_while_the_mail_has_not_been_sent(client: Client, settings: Any) -> None:
    """The address is as unconfirmed as after the mail."""
    settings.MFA_ALLOW_UNVERIFIED_EMAIL = False
    body = {"email": "nora@example.com", "password": factories.PASSWORD, "name": "Nora", "role": "DEVELOPER"}
    assert post(client, "/auth/register", body).status_code == 201  # its mail waits for the commit
    browser = browser_of(User.objects.get())
    assert browser.get("/accounts/security/passkeys/add/")["Location"] == "/accounts/security/"


# Mails about new tokens


def mailed(act: Callable[[], Any]) -> str:
    mail.outbox.clear()
    with TestCase.captureOnCommitCallbacks(execute=True):
        act()
    (message,) = mail.outbox
    return str(message.body)


@pytest.mark.spec("Contract 15 Doors", "Each new developer token is reported by mail")
def test_new_token_is_mailed(dana: User) -> None:
    browser = browser_of(dana)
    body = {"name": "CI", "days": 30, "rights": ["secrets"]}
    agent = {"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"}

    def act(name: str) -> str:
        form = body | {"name": name}
        return mailed(
            lambda: browser.post("/accounts/tokens/", form, headers=agent, REMOTE_ADDR="203.0.113.77")
        )

    text = act("Win at evil.example")
    assert "evil" not in text  # the address isn't confirmed, so it may be a stranger's
    EmailAddress.objects.create(user=dana, email=dana.email, verified=True)
    text = act("CI")
    words = (
        "“CI”",
        "regenerate the client secrets of your apps",
        "203.0.113.0/24",
        "Firefox on Linux",
        "/accounts/password-reset/",
    )
    assert [word for word in words if word not in text] == []


def test_token_of_a_command_line_is_mailed(dana: User) -> None:
    EmailAddress.objects.create(user=dana, email=dana.email, verified=True)
    codes = start(client_name="Order tool")
    browser_of(dana).post("/portal/device/", {"user_code": codes["user_code"], "answer": "allow"})
    text = mailed(lambda: redeem(codes))
    assert ("“Order tool”" in text, "127.0.0.0/24" in text) == (True, True)


# Rights


def bearer(token: str) -> Client:
    return Client(headers={"authorization": f"Bearer {token}"})


def with_rights(dana: User, *rights: str) -> Client:
    return bearer(
        create_developer_token(user=dana, name="CI", lifetime=timedelta(days=1), rights=rights).text
    )


CALLS = {
    "secrets": ("post", "/client-secret", 201),
    "delete": ("delete", "", 204),
}


@pytest.mark.spec("Contract 15 Doors", "A developer token has the rights that were selected when it was made")
@pytest.mark.parametrize("right", CALLS)
def test_token_needs_the_right(dana: User, app: App, right: str) -> None:
    method, call, status = CALLS[right]
    path = f"/developer/apps/{app.pk}{call}"
    others = [each.value for each in TokenRight if each != right]
    body = assert_error(getattr(with_rights(dana, *others), method)(path), 403, "Forbidden")
    assert f"“{right}”" in body["message"]
    assert "/accounts/tokens/" in body["message"]
    DeveloperToken.objects.all().delete()
    assert getattr(with_rights(dana, right), method)(path).status_code == status


def test_sign_in_and_other_calls_need_no_right(dana: User, app: App) -> None:
    person = bearer(sign_in(Client(), dana.email).json()["accessToken"])
    assert person.post(f"/developer/apps/{app.pk}/client-secret").status_code == 201
    script = with_rights(dana)
    changed = script.patch(f"/developer/apps/{app.pk}", {"version": "1.4.0"}, content_type="application/json")
    assert changed.status_code == 200


def test_right_is_asked_for_before_the_app_is_looked_for(dana: User) -> None:
    """A 403 comes before a 404."""
    assert with_rights(dana).post("/developer/apps/nothing/client-secret").status_code == 403


def test_command_line_has_no_rights_and_the_page_shows_whose(dana: User) -> None:
    browser = browser_of(dana)
    browser.post("/accounts/tokens/", {"name": "CI", "days": 30, "rights": ["delete", "members"]})
    codes = start(client_name="Order tool")
    browser.post("/portal/device/", {"user_code": codes["user_code"], "answer": "allow"})
    redeem(codes)
    assert {token.name: token.rights for token in DeveloperToken.objects.all()} == {
        "CI": ["delete", "members"],
        "Order tool": [],
    }
    page = " ".join(browser.get("/accounts/tokens/").content.decode().split())
    assert "May also: delete your apps · add and remove members of your apps, and transfer them" in page
    assert "May not regenerate client secrets" in page
    wrong = browser.post("/accounts/tokens/", {"name": "All", "days": 30, "rights": ["everything"]})
    assert wrong.status_code == 422

import re
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.core import mail
from django.test import Client

from accounts.models import User
from accounts.services.sender import send_due
from tests.accounts.api import refresh, sign_in
from tests.accounts.password_reset import NEW, ask, choose
from tests.factories import PASSWORD

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("tasks_run_at_once")]


def mailed_path() -> str:
    (message,) = mail.outbox
    found = re.search(r"http://testserver(/accounts/password-reset/\S+)", str(message.body))
    assert found
    return found[1]


@pytest.mark.spec("Contract 7 Pages", "A forgotten password is replaced by a link in a mail")
def test_new_password_by_mailed_link(client: Client, dana: User) -> None:
    response = ask(client, " Dana@Example.com ")
    assert response["Location"] == "/accounts/password-reset/sent/"
    assert b"sent it a link" in client.get(response["Location"]).content
    assert mail.outbox[0].to == ["dana@example.com"]
    assert b"Your new password is saved" in choose(client, mailed_path()).content
    assert sign_in(client, "dana@example.com", NEW).status_code == 200
    assert sign_in(client, "dana@example.com", PASSWORD).status_code == 401


@pytest.mark.spec("Contract 7 Pages", "Asking for a new password does not tell who has an account")
def test_unknown_and_closed_accounts_answered_alike(client: Client, dana: User, sam: User) -> None:
    User.objects.filter(pk=sam.pk).update(is_active=False)
    answers = {
        (response.status_code, response["Location"], response.content)
        for response in (ask(client, f"{name}@example.com") for name in ("dana", "sam", "nobody"))
    }
    assert len(answers) == 1
    assert [message.to for message in mail.outbox] == [["dana@example.com"]]


def test_link_works_once(client: Client, dana: User) -> None:
    ask(client, "dana@example.com")
    choose(client, mailed_path())
    assert b"This link no longer works" in client.get(mailed_path(), follow=True).content


def test_link_works_for_an_hour(client: Client, dana: User) -> None:
    noon = datetime(2026, 11, 20, 12, tzinfo=UTC)
    with time_machine.travel(noon, tick=False) as clock:
        ask(client, "dana@example.com")
        clock.shift(timedelta(minutes=59))
        assert b"Choose a new password" in client.get(mailed_path(), follow=True).content
        clock.shift(timedelta(minutes=2))
        assert b"This link no longer works" in client.get(mailed_path(), follow=True).content


@pytest.mark.parametrize("path", ["/accounts/password-reset/x-y/", "/accounts/password-reset/1-a-b/"])
def test_made_up_link_refused(client: Client, path: str) -> None:
    assert b"This link no longer works" in client.get(path).content


def test_weak_password_refused(client: Client, dana: User) -> None:
    ask(client, "dana@example.com")
    response = choose(client, mailed_path(), "12345")
    assert response.context["form"].errors.keys() == {"password1"}
    assert sign_in(client, "dana@example.com").status_code == 200


def test_new_password_ends_sessions_and_tokens(client: Client, dana: User) -> None:
    token = sign_in(client, "dana@example.com").json()["refreshToken"]
    elsewhere = Client()
    elsewhere.force_login(User.objects.get(pk=dana.pk))
    ask(client, "dana@example.com")
    choose(client, mailed_path())
    assert refresh(client, token).status_code == 401
    assert elsewhere.get("/accounts/")["Location"].startswith("/accounts/login/")


def test_link_leads_to_this_site_whatever_host_was_sent(client: Client, dana: User) -> None:
    ask(client, "dana@example.com", headers={"Host": "localhost"})
    assert "localhost" not in mail.outbox[0].body
    assert mailed_path()


def test_mail_waits_for_the_next_run_when_the_broker_is_gone(
    client: Client, dana: User, dead_broker: None
) -> None:
    assert ask(client, "dana@example.com").status_code == 302
    assert mail.outbox == []
    assert send_due() == 1
    assert mailed_path()


def test_address_gets_three_mails_an_hour_and_nobody_is_told(client: Client, dana: User) -> None:
    with time_machine.travel(datetime(2026, 11, 20, 12, tzinfo=UTC), tick=False) as clock:
        assert [ask(client, "dana@example.com").status_code for _ in range(4)] == [302] * 4
        assert len(mail.outbox) == 3
        clock.shift(3600)
        ask(client, "Dana@example.com")
    assert len(mail.outbox) == 4

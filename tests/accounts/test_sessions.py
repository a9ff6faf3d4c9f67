"""The pages' sessions: what the database holds of them, and when they end."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.test import Client
from django.utils.timezone import now

from accounts.models import Session, SignIn, User
from tests import factories
from tests.accounts.api import refresh, sign_in
from tests.state import unchanged

pytestmark = pytest.mark.django_db


def is_signed_in(client: Client) -> bool:
    return client.get("/accounts/").headers["Location"] != "/accounts/login/?next=/accounts/"


@pytest.fixture
def rita(db: None) -> User:
    return factories.reviewer()


def test_rows_of_sessions_open_none(client: Client, dana: User) -> None:
    client.force_login(dana)
    key = client.cookies[settings.SESSION_COOKIE_NAME].value
    row = Session.objects.get(user=dana)
    assert key not in str(Session.objects.values_list().get())
    assert is_signed_in(client)
    client.cookies[settings.SESSION_COOKIE_NAME] = row.session_key
    assert not is_signed_in(client)


def test_signing_out_removes_the_session(client: Client, dana: User) -> None:
    client.force_login(dana)
    client.post("/accounts/logout/")
    assert not Session.objects.filter(user=dana).exists()


def test_person_who_is_blocked_is_signed_out(client: Client, dana: User) -> None:
    client.force_login(dana)
    assert is_signed_in(client)
    User.objects.filter(pk=dana.pk).update(is_active=False)
    assert not is_signed_in(client)


def test_way_to_sign_in_that_is_gone_opens_nothing(client: Client, dana: User, settings: Any) -> None:
    client.force_login(dana)
    settings.AUTHENTICATION_BACKENDS = ["allauth.account.auth_backends.AuthenticationBackend"]
    assert not is_signed_in(client)


@pytest.mark.parametrize("role", ["is_staff", "is_superuser"])
def test_idle_staff_sign_in_again_after_half_an_hour(client: Client, rita: User, role: str) -> None:
    User.objects.filter(pk=rita.pk).update(is_staff=False, is_superuser=False)
    start = now()
    with time_machine.travel(start, tick=False) as clock:
        client.force_login(rita)
        clock.shift(timedelta(minutes=31))
        assert is_signed_in(client)
        User.objects.filter(pk=rita.pk).update(**{role: True})  # such a session is a staff session at once
        clock.shift(timedelta(minutes=29))
        assert is_signed_in(client)
        clock.shift(timedelta(minutes=31))
        assert not is_signed_in(client)


def test_busy_staff_sign_in_again_after_twelve_hours(client: Client, rita: User) -> None:
    with time_machine.travel(now(), tick=False) as clock:
        client.force_login(rita)
        for _ in range(35):
            clock.shift(timedelta(minutes=20))
            assert is_signed_in(client)
        clock.shift(timedelta(minutes=20))
        assert not is_signed_in(client)


def test_other_people_stay_signed_in(client: Client, dana: User) -> None:
    with time_machine.travel(now(), tick=False) as clock:
        client.force_login(dana)
        clock.shift(timedelta(days=13))
        assert is_signed_in(client)


def test_session_costs_no_extra_query(client: Client, dana: User, django_assert_num_queries: Any) -> None:
    """One reads the session with its limits, and the person. Once a minute the row is written, too."""
    with time_machine.travel(now(), tick=False) as clock:
        client.force_login(dana)
        with django_assert_num_queries(1):
            client.get("/accounts/")
        clock.shift(60)
        with django_assert_num_queries(2):
            client.get("/accounts/")
        with django_assert_num_queries(1):
            client.get("/accounts/")


FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"


def browser_of(email: str, **headers: str) -> Client:
    """A browser of this person that has signed in on the page."""
    client = Client(headers=headers, REMOTE_ADDR="203.0.113.77")
    answer = client.post("/accounts/login/", {"email": email, "password": factories.PASSWORD})
    assert answer.status_code == 302
    return client


def end(client: Client, kind: str, row_id: object) -> Any:
    return client.post("/accounts/sessions/end/", {"kind": kind, "id": str(row_id)}, follow=True)


def test_sessions_are_listed_and_ended(client: Client, dana: User, mira: User) -> None:
    here = browser_of(dana.email)
    there = browser_of(dana.email, user_agent=FIREFOX)
    pair = sign_in(client, dana.email, headers={"User-Agent": "curl/8.5.0"}).json()
    browser_of(mira.email, user_agent="Secret Browser of Mira/1.0")
    page = here.get("/accounts/sessions/").content.decode()
    assert [word in page for word in ("Firefox on Linux", "203.0.113.0/24", "curl", "Mira")] == [True] * 3 + [
        False
    ]
    assert page.count("This session") == 1

    row = Session.objects.get(user=dana, device=FIREFOX)
    assert "The session has ended" in end(here, "session", row.pk).content.decode()
    assert (is_signed_in(there), is_signed_in(here)) == (False, True)
    assert "already ended" in end(here, "session", row.pk).content.decode()
    end(here, "sign-in", SignIn.objects.get(user=dana).pk)
    assert refresh(client, pair["refreshToken"]).status_code == 401


def test_all_other_sessions_end(client: Client, dana: User, mira: User) -> None:
    here, there, miras = browser_of(dana.email), browser_of(dana.email), browser_of(mira.email)
    pair = sign_in(client, dana.email).json()
    here.post("/accounts/sessions/end/", {"others": "1"})
    assert [is_signed_in(each) for each in (here, there, miras)] == [True, False, True]
    assert refresh(client, pair["refreshToken"]).status_code == 401


@pytest.mark.parametrize("kind", ["session", "sign-in", ""])
def test_nobody_ends_sessions_of_others(client: Client, dana: User, mira: User, kind: str) -> None:
    browser_of(dana.email)
    sign_in(client, dana.email)
    with unchanged(SignIn):
        for row in (Session.objects.get(user=dana), SignIn.objects.get(user=dana)):
            assert "already ended" in end(browser_of(mira.email), kind, row.pk).content.decode()
    assert Session.objects.filter(user=dana).exists()


@pytest.mark.spec("Trust 3 People", "A changed password ends all other sessions")
def test_changed_password_ends_all_others(client: Client, dana: User) -> None:
    here, there = browser_of(dana.email), browser_of(dana.email)
    pair = sign_in(client, dana.email).json()
    new = {
        "oldpassword": factories.PASSWORD,
        "password1": "quite another one",
        "password2": "quite another one",
    }
    here.post("/accounts/password/", new)
    assert [is_signed_in(each) for each in (here, there)] == [True, False]
    assert refresh(client, pair["refreshToken"]).status_code == 401


def test_new_password_ends_and_hides_all_sessions(dana: User) -> None:
    former = browser_of(dana.email)
    dana.refresh_from_db()
    dana.set_password("quite another one")
    dana.save()
    here = Client()
    here.post("/accounts/login/", {"email": dana.email, "password": "quite another one"})
    assert "End session" not in here.get("/accounts/sessions/").content.decode()
    assert not is_signed_in(former)

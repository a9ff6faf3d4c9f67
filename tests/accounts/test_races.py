"""Two requests at one moment, on connections of their own."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.test import Client

from accounts.models import Business, User
from accounts.services import create_business
from accounts.services.businesses import MOST_STORES
from common.errors import Conflict
from tests import factories
from tests.accounts.api import post, refresh, sign_in
from tests.accounts.second_factor import set_up_app
from tests.sessions import another_session
from tests.threads import at_once
from tests.waiting import wait_for_locks

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.spec("Contract 1 Accounts", "Of two refreshes with one token at once, one gets a new pair")
def test_refresh_token_spent_once(client: Client, dana: User) -> None:
    for _ in range(3):
        token = sign_in(client, "dana@example.com").json()["refreshToken"]
        answers = at_once(*[lambda token=token: refresh(Client(), token).status_code] * 4)
        assert Counter(answers) == {200: 1, 401: 3}


@pytest.mark.long
@pytest.mark.postgres
def test_refresh_while_the_sign_in_ends(client: Client, dana: User) -> None:
    """It has read the sign-in before its end is committed, and waits for the row."""
    token = sign_in(client, "dana@example.com").json()["refreshToken"]
    with another_session() as other, ThreadPoolExecutor(1) as pool:
        other.execute("UPDATE accounts_signin SET ended_at = now()")
        answer = pool.submit(at_once, lambda: refresh(Client(), token).status_code)
        wait_for_locks(1, of=other)
        other.commit()
        assert answer.result() == [401]


def test_address_registered_once(newcomer: dict[str, str]) -> None:
    answers = at_once(*[lambda: post(Client(), "/auth/register", newcomer).status_code] * 4)
    assert Counter(answers) == {201: 1, 409: 3}
    assert (User.objects.count(), Business.objects.count()) == (1, 1)


def test_businesses_of_one_name_opened_at_once(dana: User) -> None:
    owners = [factories.merchant(f"m{number}@example.com") for number in range(4)]
    made = at_once(*[lambda owner=owner: create_business(owner=owner, name="Harbour") for owner in owners])
    assert {business.slug for business in made} == {"harbour", "harbour-2", "harbour-3", "harbour-4"}


@pytest.mark.postgres
def test_last_store_of_a_person_opened_twice_at_once(mira: User) -> None:
    for _ in range(MOST_STORES - 2):
        factories.business(mira)

    def open_one() -> str:
        try:
            create_business(owner=mira, name="Bakery")
        except Conflict as error:
            return error.code
        return "made"

    assert Counter(at_once(*[open_one] * 4)) == {"made": 1, "too_many_stores": 3}


@pytest.mark.long
@pytest.mark.spec("Contract 15 Doors", "Codes that are guessed at once are all counted")
def test_codes_guessed_at_once_are_counted(dana: User) -> None:
    set_up_app(dana)
    body = {"email": dana.email, "password": factories.PASSWORD, "otp": "000000"}

    def guess(number: int) -> int:
        return post(Client(REMOTE_ADDR=f"203.0.{number}.7"), "/auth/login", body).status_code

    for number in range(16):
        assert guess(number) == 401
    answers = Counter(at_once(*[lambda number=number: guess(number) for number in range(100, 112)]))
    assert answers[401] <= 4
    assert answers[401] + answers[429] == 12

from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import SignIn, User
from common.web import limits
from tests.accounts.api import assert_error, post, sign_in
from tests.factories import PASSWORD
from tests.ports import free_port
from tests.state import unchanged

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 11, 20, 12, 0, 0, tzinfo=UTC)


def bad_registrations(client: Client, times: int, **kwargs: Any) -> list[int]:
    return [post(client, "/auth/register", {}, **kwargs).status_code for _ in range(times)]


@pytest.mark.spec("Contract 9 Accounts", "Registration is limited to 60 a minute per address")
def test_sixty_first_registration_refused(client: Client, newcomer: dict[str, str]) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        assert bad_registrations(client, 60) == [400] * 60
        response = post(client, "/auth/register", newcomer)
        assert_error(response, 429, "Too Many Requests")
        assert not User.objects.exists()
        wait = int(response["Retry-After"])
        assert 1 <= wait <= 60
        clock.shift(timedelta(seconds=wait))
        assert post(client, "/auth/register", newcomer).status_code == 201


def test_registration_of_another_address_not_limited(client: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        bad_registrations(client, 61)
        assert bad_registrations(client, 1, REMOTE_ADDR="198.51.100.7") == [400]


@pytest.mark.long
def test_registration_limit_holds_for_page_and_api_together(client: Client, newcomer: dict[str, str]) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        bad_registrations(client, 60)
        assert client.post("/accounts/register/", newcomer).status_code == 429
        assert not User.objects.exists()
        clock.shift(60)
        assert client.post("/accounts/register/", newcomer).status_code == 302
        assert User.objects.get().email == newcomer["email"]


def guess(client: Client, times: int = 10, email: str = "dana@example.com", **kwargs: Any) -> list[int]:
    return [sign_in(client, email, "wrong", **kwargs).status_code for _ in range(times)]


@pytest.mark.spec("Contract 9 Accounts", "Sign-in is limited to 10 failures a minute per account and network")
def test_sign_in_after_ten_failures_refused(client: Client, dana: User, mira: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        assert guess(client) == [401] * 10
        response = sign_in(client, "dana@example.com")
        assert_error(response, 429, "Too Many Requests")
        assert sign_in(client, "mira@example.com").status_code == 200
        clock.shift(timedelta(seconds=int(response["Retry-After"])))
        assert sign_in(client, "dana@example.com").status_code == 200


def test_spelling_of_address_gives_no_further_tries(client: Client, dana: User) -> None:
    with time_machine.travel(NOON, tick=False):
        for number in range(10):
            email = "DANA@example.com" if number % 2 else " dana@Example.com "
            assert sign_in(client, email, "wrong").status_code == 401
        with unchanged(User, SignIn):
            assert sign_in(client, "dana@example.com").status_code == 429


@pytest.mark.spec("Contract 9 Accounts", "A stranger's guesses never keep the owner out")
@pytest.mark.parametrize(
    ("stranger", "neighbour", "owner"),
    [
        ("198.51.100.7", "198.51.100.99", "198.51.101.7"),
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", "2001:db8:1:3::1"),
    ],
)
def test_failures_count_for_their_network(
    client: Client, dana: User, stranger: str, neighbour: str, owner: str
) -> None:
    with time_machine.travel(NOON, tick=False):
        assert guess(client, 11, REMOTE_ADDR=stranger) == [401] * 10 + [429]
        assert sign_in(client, dana.email, REMOTE_ADDR=neighbour).status_code == 429
        assert sign_in(client, dana.email, REMOTE_ADDR=owner).status_code == 200


def test_right_password_takes_failures_back(client: Client, dana: User) -> None:
    with time_machine.travel(NOON, tick=False):
        for _ in range(3):
            assert guess(client, 9) == [401] * 9
            assert sign_in(client, dana.email).status_code == 200
            assert guess(client, 9) == [401] * 9
            page = client.post("/accounts/login/", {"email": dana.email, "password": PASSWORD})
            assert page.status_code == 302


@pytest.mark.long
def test_right_passwords_do_not_count_for_the_address(client: Client, dana: User) -> None:
    with time_machine.travel(NOON, tick=False):
        assert {sign_in(client, dana.email).status_code for _ in range(61)} == {200}


def test_registrations_give_an_address_no_further_guesses(client: Client, newcomer: dict[str, str]) -> None:
    with time_machine.travel(NOON, tick=False):
        for number in range(60):
            assert sign_in(client, f"p{number}@example.com", "wrong").status_code == 401
        assert client.post("/accounts/register/", newcomer).status_code == 302
        assert sign_in(client, "p60@example.com", "wrong").status_code == 429


@pytest.mark.long
def test_delays_grow(client: Client, dana: User) -> None:
    """Ten tries in the first minute, then in two minutes, in four, and at last in an hour."""
    with time_machine.travel(NOON, tick=False) as clock:
        waits = []
        for _ in range(8):
            assert guess(client) == [401] * 10
            waits.append(int(sign_in(client, dana.email, "wrong")["Retry-After"]))
            clock.shift(waits[-1])
        assert waits == [60, 120, 240, 480, 960, 1920, 3600, 3600]
        assert sign_in(client, dana.email).status_code == 200
        guess(client)
        assert sign_in(client, dana.email, "wrong")["Retry-After"] == "60"


@pytest.mark.long
def test_slow_guesses_are_delayed_too(client: Client, dana: User) -> None:
    """A guesser who stays below the limit of each window gets longer windows all the same."""
    with time_machine.travel(NOON, tick=False) as clock:
        got_through = 0
        for _ in range(20):
            got_through += guess(client, 9).count(401)
            clock.shift(60)
        assert got_through < 60


def test_unknown_account_limited_alike(client: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        statuses = [sign_in(client, "nobody@example.com", "wrong").status_code for _ in range(11)]
        assert statuses == [401] * 10 + [429]


@pytest.mark.spec("Contract 9 Accounts", "Sign-in is limited to 60 failures a minute per address")
def test_sixty_first_sign_in_of_address_refused(client: Client, dana: User) -> None:
    with time_machine.travel(NOON, tick=False):
        for number in range(60):
            assert sign_in(client, f"p{number}@example.com", "wrong").status_code == 401
        assert_error(sign_in(client, "dana@example.com"), 429, "Too Many Requests")


def test_limit_comes_before_the_body_is_looked_at(client: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        bad_registrations(client, 60)
        response = client.post("/auth/register", b"{", content_type="text/plain")
        assert_error(response, 429, "Too Many Requests")


def test_sign_in_page_and_api_share_the_limit(client: Client, dana: User) -> None:
    with time_machine.travel(NOON, tick=False):
        for _ in range(10):
            sign_in(client, "dana@example.com", "wrong")
        response = client.post(
            "/accounts/login/", {"email": "Dana@example.com", "password": "correct horse battery"}
        )
        assert response.status_code == 429
        assert 1 <= int(response["Retry-After"]) <= 60
        assert b"Too many attempts" in response.content
        assert b'value="Dana@example.com"' in response.content
        assert "_auth_user_id" not in client.session


@pytest.mark.parametrize("offset", [0, 0.5, 59.999])
def test_retry_after_is_true_at_any_second(client: Client, offset: float) -> None:
    with time_machine.travel(NOON + timedelta(seconds=offset), tick=False) as clock:
        for _ in range(10):
            sign_in(client, "nobody@example.com", "wrong")
        response = sign_in(client, "nobody@example.com", "wrong")
        clock.shift(timedelta(seconds=int(response["Retry-After"])))
        assert sign_in(client, "nobody@example.com", "wrong").status_code == 401


@pytest.mark.redis
def test_process_counts_alone_while_redis_is_down(client: Client, dana: User, settings: Any) -> None:
    settings.REDIS_URL = f"redis://127.0.0.1:{free_port()}/0"
    limits.counter.cache_clear()
    network = {"REMOTE_ADDR": "192.0.2.1"}
    with time_machine.travel(NOON, tick=False):
        assert sign_in(client, dana.email, **network).status_code == 200
        assert guess(client, 11, **network) == [401] * 10 + [429]


def test_limits_switched_off(client: Client, settings: Any) -> None:
    settings.AUTH_RATE_LIMITS = False
    assert bad_registrations(client, 61) == [400] * 61


def test_ipv6_addresses_of_one_network_are_one(client: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        bad_registrations(client, 60, REMOTE_ADDR="2001:db8:1:2::1")
        assert bad_registrations(client, 1, REMOTE_ADDR="2001:db8:1:2:ffff::9") == [429]
        assert bad_registrations(client, 1, REMOTE_ADDR="2001:db8:1:3::1") == [400]


def test_forwarded_address_counts_behind_a_proxy_only(client: Client, settings: Any) -> None:
    with time_machine.travel(NOON, tick=False):
        bad_registrations(client, 60)
        spoofed = {"X-Forwarded-For": "203.0.113.5"}
        assert bad_registrations(client, 1, headers=spoofed) == [429]
        settings.TRUSTED_PROXIES = (ip_network("127.0.0.1"), ip_network("10.0.0.0/8"))
        assert bad_registrations(client, 60, headers=spoofed) == [400] * 60
        for chain in (
            "192.0.2.1, 203.0.113.5",
            "192.0.2.1, 203.0.113.5, 10.1.2.3",
        ):  # behind one proxy, behind two
            assert bad_registrations(client, 1, headers={"X-Forwarded-For": chain}) == [429]
        elsewhere = {"headers": spoofed, "REMOTE_ADDR": "198.51.100.7"}  # past the proxy
        assert bad_registrations(client, 1, **elsewhere) == [400]
        assert bad_registrations(client, 1, headers={"X-Forwarded-For": "nonsense"}) == [400]

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from accounts.models import User
from tests.accounts.api import assert_error, post, sign_in

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


def test_registration_limit_holds_for_page_and_api_together(client: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        bad_registrations(client, 60)
        assert client.post("/accounts/register/", {}).status_code == 429


@pytest.mark.spec("Contract 9 Accounts", "Sign-in is limited to 10 a minute per account")
def test_eleventh_sign_in_refused(client: Client, dana: User, mira: User) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        for _ in range(10):
            assert_error(sign_in(client, "dana@example.com", "wrong"), 401, "Unauthorized")
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
        assert sign_in(client, "dana@example.com").status_code == 429


def test_sign_ins_of_many_places_count_for_the_account(client: Client, dana: User) -> None:
    with time_machine.travel(NOON, tick=False):
        for number in range(10):
            sign_in(client, "dana@example.com", "wrong", REMOTE_ADDR=f"198.51.100.{number}")
        assert sign_in(client, "dana@example.com", REMOTE_ADDR="198.51.100.99").status_code == 429


def test_unknown_account_limited_alike(client: Client) -> None:
    with time_machine.travel(NOON, tick=False):
        statuses = [sign_in(client, "nobody@example.com", "wrong").status_code for _ in range(11)]
        assert statuses == [401] * 10 + [429]


@pytest.mark.spec("Contract 9 Accounts", "Sign-in is limited to 60 a minute per address")
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


@pytest.mark.parametrize("offset", range(60))
def test_retry_after_is_true_at_any_second(client: Client, offset: int) -> None:
    with time_machine.travel(NOON + timedelta(seconds=offset), tick=False) as clock:
        for _ in range(10):
            sign_in(client, "nobody@example.com", "wrong")
        response = sign_in(client, "nobody@example.com", "wrong")
        clock.shift(timedelta(seconds=int(response["Retry-After"])))
        assert sign_in(client, "nobody@example.com", "wrong").status_code == 401


@pytest.mark.redis
def test_sign_in_works_while_redis_is_down(client: Client, dana: User, settings: Any) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "redis://127.0.0.1:1/0",
        }
    }
    for _ in range(12):
        assert sign_in(client, "dana@example.com").status_code == 200


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
        settings.BEHIND_PROXY = True
        assert bad_registrations(client, 60, headers=spoofed) == [400] * 60
        chain = {"X-Forwarded-For": "192.0.2.1, 203.0.113.5"}
        assert bad_registrations(client, 1, headers=chain) == [429]

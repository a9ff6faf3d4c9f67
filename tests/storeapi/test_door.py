"""The door of shop systems: keys, rates, bodies and the order of errors (contract, sections 0, 9 and 17)."""

import gzip
import json
import tracemalloc
import zlib
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from accounts.models import ConnectedStore, ShopKey
from accounts.services import shops
from common.rest.bodies import MAX_BODY
from tests.clients import shop_client

pytestmark = pytest.mark.django_db

MAIN = "/store-api/stores/main"
NAMED = {"name": "Northwind", "currency": "USD"}


def rate_of(answer: Any) -> tuple[str, str]:
    return answer["X-RateLimit-Limit"], answer["X-RateLimit-Remaining"]


@pytest.mark.usefixtures("stopped_clock")
def test_connection_has_a_rate_of_its_own(shop: Client, store: ConnectedStore, settings: Any) -> None:
    settings.STORE_API_RATE = 3
    answers = [shop.get(MAIN), shop.get("/store-api/nowhere"), shop.put(MAIN, "{", "application/json")]
    assert [answer.status_code for answer in answers] == [200, 404, 400]
    assert [rate_of(answer) for answer in answers] == [("3", "2"), ("3", "1"), ("3", "0")]
    refused = shop.get(MAIN)
    assert (refused.status_code, rate_of(refused)) == (429, ("3", "0"))
    assert 1 <= int(refused["Retry-After"]) <= 60
    other = shop_client(shops.connect(name="Contoso"))
    assert rate_of(other.get("/store-api/stores")) == ("3", "2")


@pytest.mark.usefixtures("stopped_clock")
def test_wrong_keys_are_counted_by_address_and_hear_429_before_401(settings: Any) -> None:
    strangers = Client(headers={"authorization": "Bearer fbsk_wrong"})
    answers = [strangers.get(MAIN) for _ in range(60)]
    assert {answer.status_code for answer in answers} == {401}
    assert {answer["WWW-Authenticate"] for answer in answers} == {"Bearer"}
    assert answers[-1]["X-RateLimit-Remaining"] == "0"
    assert strangers.get(MAIN).status_code == 429
    assert Client(REMOTE_ADDR="203.0.113.9").get(MAIN).status_code == 401


def test_ended_key_opens_nothing(connected: shops.Connected, store: ConnectedStore) -> None:
    shop = shop_client(connected)
    assert shop.get(MAIN).status_code == 200
    ShopKey.objects.update(expires_at=timezone.now())
    answer = shop.get(MAIN)
    assert (answer.status_code, answer["X-Error-Code"]) == (401, "invalid_key")


@pytest.mark.parametrize("header", ["", "Bearer", "Basic abc"])
def test_missing_key_is_a_401(header: str) -> None:
    answer = Client(headers={"authorization": header}).get(MAIN)
    assert (answer.status_code, answer["X-Error-Code"]) == (401, "missing_token")


def send(shop: Client, body: bytes, coding: str = "gzip", **headers: str) -> Any:
    return shop.put(MAIN, body, "application/json", headers={"content-encoding": coding, **headers})


def test_packed_body_is_read(shop: Client) -> None:
    answer = send(shop, gzip.compress(json.dumps(NAMED).encode()))
    assert (answer.status_code, answer.json()["name"]) == (201, "Northwind")


@pytest.mark.parametrize("coding", ["br", "deflate", "zstd", "gzip, gzip"])
def test_other_coding_is_refused(shop: Client, coding: str) -> None:
    assert send(shop, b"x", coding).status_code == 415


@pytest.mark.parametrize(
    "body",
    [
        b"not gzip",
        gzip.compress(b"{}")[:-5],
        gzip.compress(b"{}") + b"more",
        gzip.compress(b"{}") + gzip.compress(b"{}"),
    ],
    ids=["none", "cut off", "followed", "two"],
)
def test_broken_gzip_is_a_400(shop: Client, body: bytes) -> None:
    answer = send(shop, body)
    assert (answer.status_code, answer["X-Error-Code"]) == (400, "invalid_gzip")


def bomb(size: int) -> bytes:
    """A gzip file of so many spaces."""
    packer = zlib.compressobj(9, wbits=31)
    piece = b" " * 1024 * 1024
    return b"".join(packer.compress(piece) for _ in range(size // len(piece))) + packer.flush()


def test_gibibyte_in_gzip_is_a_413_that_takes_no_memory(shop: Client) -> None:
    packed = bomb(1024**3)
    assert len(packed) <= MAX_BODY
    tracemalloc.start()
    answer = send(shop, packed)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (answer.status_code, answer["X-Error-Code"]) == (413, "body_too_large")
    assert peak < 16 * 1024**2


def test_size_counts_unpacked(shop: Client) -> None:
    room = MAX_BODY - len(json.dumps(NAMED | {"more": ""}))
    fits = json.dumps(NAMED | {"more": "a" * room}).encode()
    assert send(shop, gzip.compress(fits)).status_code == 201
    assert send(shop, gzip.compress(fits + b" ")).status_code == 413
    assert shop.put(MAIN, fits + b" ", "application/json").status_code == 413


def test_order_of_errors(shop: Client) -> None:
    """401, 415, 413, 400, 404."""
    elsewhere = "/store-api/stores/none"
    too_large, odd = b" " * (MAX_BODY + 1), b"{"
    assert Client().put(elsewhere, too_large, "text/plain").status_code == 401
    assert shop.put(MAIN, too_large, "text/plain").status_code == 415
    assert shop.put(MAIN, too_large, "application/json").status_code == 413
    assert shop.put(MAIN, odd, "application/json").status_code == 400
    assert shop.get(elsewhere).status_code == 404


@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_unknown_path_is_json(shop: Client, method: str) -> None:
    answer = getattr(shop, method)("/store-api/stores/main/nothing/at/all")
    assert (answer.status_code, answer["X-Error-Code"]) == (404, "unknown_path")
    assert answer["Content-Type"] == "application/json"


def test_use_of_a_key_is_kept_to_the_minute(shop: Client, store: ConnectedStore) -> None:
    begin = timezone.now()
    with time_machine.travel(begin, tick=False) as clock:
        shop.get(MAIN)
        first = ShopKey.objects.get().last_used_at
        clock.shift(timedelta(seconds=30))
        shop.get(MAIN)
        assert ShopKey.objects.get().last_used_at == first
        clock.shift(timedelta(seconds=31))
        shop.get(MAIN)
        assert ShopKey.objects.get().last_used_at > first

"""Stores of a connection (contract, section 17)."""

import pytest
from django.test import Client

from accounts.models import ConnectedStore
from accounts.services import shops
from tests.storeapi.conftest import shop_client

pytestmark = pytest.mark.django_db


def test_connection_reads_its_own_store_alone(shop: Client, store: ConnectedStore) -> None:
    assert shop.get("/store-api/stores/main").json()["id"] == str(store.pk)
    other = shop_client(shops.connect(name="Contoso"))
    assert other.get("/store-api/stores/main").status_code == 404


def test_unknown_key_is_refused(store: ConnectedStore) -> None:
    answer = Client(headers={"authorization": "Bearer fbsk_wrong"}).get("/store-api/stores/main")
    assert answer.status_code == 401, answer.content


@pytest.mark.parametrize("wrong", ["%2e%2e", "a%20b", "a" * 101])
def test_ids_have_a_form(shop: Client, store: ConnectedStore, wrong: str) -> None:
    answer = shop.get(f"/store-api/stores/{wrong}")
    assert (answer.status_code, answer["X-Error-Code"]) == (400, "wrong_id")

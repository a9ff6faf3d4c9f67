"""Shop systems as they call: with a key in the header, over HTTP."""

import pytest
from django.test import Client

from accounts.services import shops
from installations.models import Installation
from tests.clients import client_of, shop_client
from tests.storeapi.commanded import asked as asked
from tests.storeapi.fixtures import connected as connected
from tests.storeapi.fixtures import reader as reader
from tests.storeapi.fixtures import store as store


@pytest.fixture
def shop(connected: shops.Connected) -> Client:
    return shop_client(connected)


@pytest.fixture
def api(reader: Installation) -> Client:
    return client_of(reader)

"""Shop systems as they call: with a key in the header, over HTTP."""

import pytest
from django.test import Client

from accounts.models import ConnectedStore
from accounts.services import shops
from installations.models import Installation
from stores.connected.stores import open_store
from tests import factories
from tests.clients import client_of, shop_client
from tests.storeapi.commanded import asked as asked


@pytest.fixture
def connected() -> shops.Connected:
    """A connection, with its key and secret."""
    return shops.connect(name="Northwind")


@pytest.fixture
def shop(connected: shops.Connected) -> Client:
    return shop_client(connected)


@pytest.fixture
def store(connected: shops.Connected) -> ConnectedStore:
    """Its store `main`, in USD."""
    values = {"name": "Northwind Main", "currency": "USD"}
    return open_store(system=connected.system, external_id="main", values=values)


@pytest.fixture
def reader(store: ConnectedStore) -> Installation:
    """An app with every scope on the store."""
    app = factories.app(factories.developer("dana@example.com"))
    factories.approve(app)
    return factories.installation(app, store.business)


@pytest.fixture
def api(reader: Installation) -> Client:
    return client_of(reader)

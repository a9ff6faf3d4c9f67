"""A connection with its store, for the tests of the door and of the client."""

import pytest

from accounts.models import ConnectedStore
from accounts.services import shops
from installations.models import Installation
from stores.connected.stores import open_store
from tests import factories


@pytest.fixture
def connected() -> shops.Connected:
    """A connection, with its key and secret."""
    return shops.connect(name="Northwind")


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

"""Apps with real servers behind their hooks, installed on Mira's shop."""

import pytest

from accounts.models import Business
from stores.models import Product
from tests import factories


@pytest.fixture
def bread(shop: Business) -> Product:
    return factories.product(shop, name="Bread", price=1000)

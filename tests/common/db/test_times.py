"""The database writes a time as Python does."""

from datetime import UTC, datetime, timedelta

import pytest

from accounts.models import Business
from common.db.fields import IsoText
from common.times import iso
from stores.models import Product
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("microsecond", [0, 1, 500, 1000, 123_456, 999_499, 999_999])
@pytest.mark.parametrize(
    "second", [datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC), datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)]
)
def test_database_writes_a_time_as_the_api_does(
    sandbox: Business, second: datetime, microsecond: int
) -> None:
    moment = second + timedelta(microseconds=microsecond)
    product = factories.product(sandbox)
    Product.objects.filter(pk=product.pk).update(created_at=moment)
    assert Product.objects.values_list(IsoText("created_at"), flat=True).get(pk=product.pk) == iso(moment)

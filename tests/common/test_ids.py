"""Ids as text: opaque, with one spelling."""

from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest
from django.test import Client

from common.ids import first_id_at, new_id, parse_id
from common.times import FIRST, LAST, shifted
from installations.models import Installation
from tests import factories

ID = "0199a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b"
OTHER_SPELLINGS = [
    ID.upper(),
    ID.replace("-", ""),
    f"{{{ID}}}",
    f"urn:uuid:{ID}",
    f" {ID}",
    f"{ID}\n",
    ID.replace("-", "", 1),
    ID[:-1] + "B",
]


def test_parse_id_reads_what_new_id_writes() -> None:
    made = new_id()
    assert parse_id(str(made)) == made
    assert parse_id(made) == made
    assert parse_id(ID) == UUID(ID)


@pytest.mark.spec("Contract 0 Conventions", "ids are opaque strings")
@pytest.mark.parametrize("text", [*OTHER_SPELLINGS, "", "x", None, 5])
def test_parse_id_knows_no_other_spelling(text: object) -> None:
    assert parse_id(text) is None


@pytest.mark.spec("Contract 0 Conventions", "ids are opaque strings")
def test_another_spelling_of_an_id_is_404(installation: Installation) -> None:
    product = factories.product(installation.business)
    caller = Client(headers={"Authorization": f"Bearer {installation.raw_token}"})
    assert caller.get(f"/app-api/products/{product.pk}").status_code == 200
    for spelling in (str(product.pk).upper(), product.pk.hex):
        assert caller.get(f"/app-api/products/{spelling}").status_code == 404


@pytest.mark.spec("Contract 15 Doors", "a well-formed date of any year works")
def test_bound_of_any_moment_is_an_id() -> None:
    years = [1, 2, 1969, 1970, 2026, 9999]
    bounds = [first_id_at(datetime(year, 1, 1, tzinfo=UTC)) for year in years]
    assert bounds == sorted(bounds)
    assert bounds[0] == bounds[3] == UUID(int=0)
    assert first_id_at(datetime.max.replace(tzinfo=UTC)) > new_id()


def test_moment_beyond_all_others_is_the_first_or_last() -> None:
    east, minute = timezone(timedelta(hours=14)), timedelta(minutes=1)
    assert shifted(FIRST, -minute) == shifted(FIRST.replace(tzinfo=east), minute) == FIRST
    assert shifted(LAST, minute) == LAST
    assert shifted(datetime(2026, 1, 1, tzinfo=east), minute) == datetime(2025, 12, 31, 10, 1, tzinfo=UTC)

"""What holds for every list of an API."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from tests.endpoints_table import LISTS
from tests.wire.calls import Call
from tests.wire.sweep import A_MILLION, MILLION, largest_limit


@pytest.mark.long
@pytest.mark.spec("Contract 0 Conventions", "A limit above the maximum is lowered to it")
def test_no_list_reads_more_than_its_maximum(call: Call, places: dict[str, str]) -> None:
    limits = {}
    for each in LISTS:
        with CaptureQueriesContext(connection) as queries:
            assert call(each, f"{each.path(places)}?{A_MILLION}").status_code < 500
        limits[str(each)] = largest_limit(queries)
    assert {each: limit for each, limit in limits.items() if limit >= MILLION} == {}
    assert sum(map(bool, limits.values())) > len(limits) / 2, "most endpoints weren't reached"

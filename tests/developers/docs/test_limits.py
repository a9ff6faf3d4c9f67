"""The limits that the documentation names are those of the code."""

from typing import get_args

from appapi import limits as api_limits
from appapi import serializers
from appapi.services import exports, idempotency
from common.http.exchanges import ErrorClass
from developers.api import parsers
from developers.docs import errors, limits
from storefront.views import access


def test_limits_of_other_doors_are_theirs() -> None:
    assert limits.requests_a_minute() == api_limits.REQUESTS_A_MINUTE
    assert limits.order_lines()["maxItems"] == serializers.MAX_LINES
    assert limits.order_lines()["items"]["properties"]["quantity"]["maximum"] == serializers.MAX_QUANTITY
    assert limits.idempotency_key()["maxLength"] == idempotency.MAX_KEY
    assert idempotency.KEPT == limits.IDEMPOTENCY_KEPT
    assert exports.KEPT == limits.EXPORT_KEPT
    assert parsers.MAX_FORM == limits.UPLOAD
    assert parsers.MAX_PARTS == limits.UPLOAD_PARTS
    assert access.ASKING_PER_MINUTE == limits.ASKING_PER_MINUTE


def test_every_class_of_failed_attempts_is_explained() -> None:
    assert set(get_args(ErrorClass)) == set(errors.DELIVERY_CLASSES)

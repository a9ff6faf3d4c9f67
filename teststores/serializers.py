"""What moving a store's clock takes and answers, for both doors that can."""

from typing import Any

from rest_framework import serializers

from common.rest.fields import Integer, Moment
from common.times import iso
from stores.serializers import Count
from teststores.services import Advanced


class AdvanceBody(serializers.Serializer):
    seconds = Integer("How far.", 3600, min_value=1, max_value=604_800)


class BecameSerializer(serializers.Serializer):
    deliveries = Count("Deliveries that wait for an attempt.", 4)
    erasures = Count("Data erasures.", 0)
    payments = Count("Payments that expired.", 0)


class AdvancedSerializer(serializers.Serializer):
    now = Moment("The store's clock.")
    became = BecameSerializer(help_text="What became due.")


def advanced_payload(done: Advanced) -> dict[str, Any]:
    became = {name: getattr(done, name) for name in ("deliveries", "erasures", "payments")}
    return {"now": iso(done.clock), "became": became}

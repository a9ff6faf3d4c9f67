from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from accounts.models import Business
from common.ids import id_at
from extensions.models import HookCall
from extensions.tasks import remove_old_hook_calls
from tests.extensions.hooks import asking
from tests.hooking import Hooking


def age(call: HookCall, days: float) -> UUID:
    """Its id says when a call was recorded."""
    at = timezone.now() - timedelta(days=days)
    HookCall.objects.filter(pk=call.pk).update(called_at=at, id=id_at(at))
    return HookCall.objects.get(called_at=at).pk


@pytest.mark.spec("Contract 6 Hooks", "Every call is recorded; calls are kept 30 days")
def test_calls_go_after_30_days(shop: Business, hooking: Hooking) -> None:
    app = hooking("checkout.shipping_rates", {"fee": 1})
    for _ in range(4):
        asking.fee(shop)
    old, older, young, today = app.calls
    age(old, 32)
    age(older, 90)
    kept = {age(young, 29.99), today.pk}

    remove_old_hook_calls()

    assert {call.pk for call in app.calls} == kept

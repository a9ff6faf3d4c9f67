from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Business
from extensions.hooks.retention import remove_old
from extensions.models import HookCall
from extensions.tasks import remove_old_hook_calls
from tests.extensions.hooks import asking
from tests.extensions.hooks.conftest import Hooking


def age(call: HookCall, days: float) -> None:
    HookCall.objects.filter(pk=call.pk).update(called_at=timezone.now() - timedelta(days=days))


@pytest.mark.spec("Contract 6 Hooks", "Every call is recorded; calls are kept 30 days")
def test_calls_go_after_30_days(shop: Business, hooking: Hooking) -> None:
    app = hooking("checkout.shipping_rates", {"fee": 1})
    for _ in range(4):
        asking.fee(shop)
    old, older, young, _ = app.calls
    age(old, 30.01)
    age(older, 90)
    age(young, 29.99)

    assert remove_old(batch=1, batches=1) == 1
    remove_old_hook_calls()

    assert {call.pk for call in app.calls}.isdisjoint({old.pk, older.pk})
    assert len(app.calls) == 2

"""Hooks that a merchant has switched off, and the most that an app may take off an order."""

from typing import Any

import pytest

from accounts.models import Business, User
from common.errors import Invalid, NotFound
from extensions.hooks import handlers
from extensions.hooks.live import hooks_at
from extensions.models import HookCall
from extensions.services.extension_states import change_controls
from stores.hookpoints import Discount, HookPoint, HookRequest, OrderVerdict, registered
from stores.models import Product
from stores.services.checkout import place_order
from tests import factories
from tests.extensions.hooks import asking
from tests.factories import order_request
from tests.hooking import Hooked, Hooking

SWITCHES = "Contract 6 The merchant's switches"
DISCOUNTS = "order.calculate_discounts"


def switch(hooked: Hooked, *, is_on: bool) -> None:
    change_controls(installation=hooked.installation, switched={hooked.definition.pk: is_on})


@pytest.mark.spec(SWITCHES, "A switched-off hook is not asked and counts as not installed")
def test_switched_off_hook_is_not_asked(
    shop: Business, hooking: Hooking, django_assert_num_queries: Any
) -> None:
    hooked = hooking("order.validate", 500)
    switch(hooked, is_on=False)
    with django_assert_num_queries(1):
        assert asking.verdict(shop) == OrderVerdict(all_heard=True)
    assert (hooked.receiver.requests, HookCall.objects.count()) == ([], 0)
    switch(hooked, is_on=True)
    assert asking.verdict(shop) == OrderVerdict(all_heard=False)


@pytest.mark.spec(
    SWITCHES, "A hook that is switched off while an order waits for another app is not asked for it"
)
def test_switch_while_an_order_waits_counts_for_it(shop: Business, hooking: Hooking, bread: Product) -> None:
    validating = hooking("order.validate", {"valid": True})
    shipping = hooking("checkout.shipping_rates", {"fee": 1})

    def switched_meanwhile(request: HookRequest) -> Any:
        found = handlers.verdict(request)
        switch(shipping, is_on=False)
        return found

    with registered(HookPoint.VALIDATE, switched_meanwhile):
        place_order(business=shop, request=order_request((bread, 1)))
    assert (len(validating.receiver.requests), shipping.receiver.requests) == (1, [])


def test_other_stores_go_on_asking(shop: Business, hooking: Hooking) -> None:
    hooked = hooking("order.validate", {"valid": True})
    elsewhere = factories.business(factories.merchant("noor@example.com"))
    factories.installation(hooked.app, elsewhere)
    switch(hooked, is_on=False)
    assert hooks_at(shop, HookPoint.VALIDATE) == []
    assert len(hooks_at(elsewhere, HookPoint.VALIDATE)) == 1


def test_working_copy_on_the_own_sandbox(sandbox: Business, hooking: Hooking) -> None:
    hooked = hooking(DISCOUNTS, {"discount": 500}, business=sandbox)
    change_controls(installation=hooked.installation, switched={}, most_discount=10)
    assert asking.discount(sandbox, subtotal=2000).amount == 200
    switch(hooked, is_on=False)
    assert hooks_at(sandbox, HookPoint.DISCOUNTS) == []


def test_part_of_another_app_is_refused(hooking: Hooking, dana: User) -> None:
    own, other = hooking("order.validate"), hooking("order.validate")
    with pytest.raises(NotFound):
        change_controls(installation=own.installation, switched={other.definition.pk: False})


# --- The cap --------------------------------------------------------------------------------------


@pytest.mark.spec(
    SWITCHES, "An app takes off no more than its share of the subtotal, rounded down; the ledger has both"
)
def test_cap(shop: Business, hooking: Hooking) -> None:
    greedy = hooking(DISCOUNTS, {"discount": 900, "reason": "Half price"}, priority=1)
    modest = hooking(DISCOUNTS, {"discount": 100, "reason": "Loyal"}, priority=2)
    for app in (greedy, modest):
        change_controls(installation=app.installation, switched={}, most_discount=15)

    assert asking.discount(shop, subtotal=1999) == Discount(299 + 100, "Half price; Loyal")
    assert greedy.call.outcome == "ANSWERED"
    assert greedy.call.fallback == (
        "The app asked for $9.00 off and got $2.99: the store lets it take off at most 15%."
    )
    assert modest.call.fallback == ""


def test_cap_of_nothing_leaves_out_the_reason(shop: Business, hooking: Hooking) -> None:
    app = hooking(DISCOUNTS, {"discount": 900, "reason": "Half price"})
    change_controls(installation=app.installation, switched={}, most_discount=0)
    assert asking.discount(shop) == Discount(0, "")


def test_cap_is_of_one_app_and_all_of_the_subtotal_until_it_is_set(shop: Business, hooking: Hooking) -> None:
    limited = hooking(DISCOUNTS)
    hooking(DISCOUNTS)
    change_controls(installation=limited.installation, switched={}, most_discount=15)
    assert [each.most_discount for each in hooks_at(shop, HookPoint.DISCOUNTS)] == [15, 100]


@pytest.mark.parametrize("percent", [-1, 101])
def test_cap_is_a_share(hooking: Hooking, percent: int) -> None:
    with pytest.raises(Invalid):
        change_controls(installation=hooking(DISCOUNTS).installation, switched={}, most_discount=percent)

"""The rights of a person in a store are decided in one place: nothing else compares the owner of a business with anybody."""

import pytest

from tests.comparisons import found_outside

DECIDE = ("accounts/access.py", "accounts/models/people.py")
# These ask whether the owner's account still exists, or is one of the demo's.
OF_THE_ACCOUNT = (
    "accounts/services/confirmation.py", "accounts/services/staff.py", "config/demo/order_bell.py", "stores/services/customer_erasure.py",
    "teststores/trials.py",
)  # fmt: skip


@pytest.mark.long
def test_only_one_module_compares_the_owner_of_a_business() -> None:
    assert not found_outside(DECIDE + OF_THE_ACCOUNT, ("owner", "owner_id"))

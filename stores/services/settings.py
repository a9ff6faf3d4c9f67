"""Settings of the whole store."""

from accounts.models import Business
from common.validation import check_fields
from stores.models import StoreSettings


def set_delivery_fee(*, business: Business, fee: int) -> None:
    """`fee` is in minor units and applies to orders placed from now on. Raises `Invalid`."""
    check_fields(StoreSettings(business=business, delivery_fee=fee), {"delivery_fee": "deliveryFee"})
    StoreSettings.objects.update_or_create(business=business, defaults={"delivery_fee": fee})

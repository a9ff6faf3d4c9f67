"""The states of the shop's records, with the moves between them beside the values."""

from django.db import models


class ProductStatus(models.TextChoices):
    ACTIVE = "ACTIVE", "Active"
    ARCHIVED = "ARCHIVED", "Archived"


class OrderStatus(models.TextChoices):
    PENDING = "PENDING", "Pending"
    CONFIRMED = "CONFIRMED", "Confirmed"
    PREPARING = "PREPARING", "Preparing"
    READY = "READY", "Ready"
    IN_DELIVERY = "IN_DELIVERY", "In delivery"
    DELIVERED = "DELIVERED", "Delivered"
    CANCELLED = "CANCELLED", "Cancelled"


# An order moves forward along this line and may skip stages.
FULFILMENT = (
    OrderStatus.PENDING,
    OrderStatus.CONFIRMED,
    OrderStatus.PREPARING,
    OrderStatus.READY,
    OrderStatus.IN_DELIVERY,
    OrderStatus.DELIVERED,
)


def may_move(current: str, target: str) -> bool:
    """Whether an order may go from one status to another, different one (contract section 4).

    Forward along `FULFILMENT`; to CANCELLED from every state but DELIVERED; nothing leaves CANCELLED.
    """
    if current in (OrderStatus.CANCELLED, OrderStatus.DELIVERED):
        return False
    if target == OrderStatus.CANCELLED:
        return True
    return FULFILMENT.index(OrderStatus(target)) > FULFILMENT.index(OrderStatus(current))


class DeliveryMethod(models.TextChoices):
    DELIVERY = "DELIVERY", "Delivery"
    PICKUP = "PICKUP", "Pickup"


class OrderValidation(models.TextChoices):
    """Whether the merchant's apps (`order.validate`) were all heard before the order was taken."""

    VALID = "VALID", "Validated"
    NOT_VALIDATED = "NOT_VALIDATED", "Not validated"


class PaymentStatus(models.TextChoices):
    PENDING = "PENDING", "Pending"
    COMPLETED = "COMPLETED", "Completed"
    FAILED = "FAILED", "Failed"
    EXPIRED = "EXPIRED", "Expired"


# What the maker of a payment may say of it.
SETTLED = (PaymentStatus.COMPLETED, PaymentStatus.FAILED)


class BuiltInPayment(models.TextChoices):
    """Taken by the merchant outside the service: such an order has no payment record."""

    CASH = "CASH", "Cash"
    CARD = "CARD", "Card"


class StockCrossing(models.TextChoices):
    """What a change of stock means to those who watch the shelf."""

    OUT_OF_STOCK = "out_of_stock"
    LOW_STOCK = "low_stock"
    BACK_IN_STOCK = "back_in_stock"


def stock_crossing(before: int | None, after: int | None, threshold: int | None) -> StockCrossing | None:
    """The line that a change of stock crossed, if any (contract section 9, "Orders").

    Low: from at least the threshold to below it, and still above 0. Out: it reaches 0. Back: it rises
    from 0. Untracked stock (None) crosses nothing.
    """
    if before is None or after is None or before == after:
        return None
    if after == 0:
        return StockCrossing.OUT_OF_STOCK
    if before == 0:
        return StockCrossing.BACK_IN_STOCK
    if threshold is not None and before >= threshold > after:
        return StockCrossing.LOW_STOCK
    return None

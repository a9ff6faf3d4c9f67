"""The states of a store's records, with the allowed transitions beside the values."""

from django.db import models


class Accent(models.TextChoices):
    """The colors that a store may choose. `static/css/accents.css` has the values, which hold contrast in light and dark."""

    GRAPHITE = "graphite", "Graphite"
    INDIGO = "indigo", "Indigo"
    BLUE = "blue", "Blue"
    TEAL = "teal", "Teal"
    GREEN = "green", "Green"
    OLIVE = "olive", "Olive"
    AMBER = "amber", "Amber"
    ORANGE = "orange", "Orange"
    RED = "red", "Red"
    PINK = "pink", "Pink"
    PURPLE = "purple", "Purple"
    BROWN = "brown", "Brown"


class Headings(models.TextChoices):
    """The type of a store's headings."""

    PLAIN = "plain", "Plain"
    CLASSIC = "classic", "Classic"


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


OPEN = FULFILMENT[:-1]  # somebody waits for these


def may_move(current: str, target: str) -> bool:
    """Whether an order may change from one status to a different one (contract, section 4).

    Forward along `FULFILMENT`; to CANCELLED from every status but DELIVERED; CANCELLED is final.
    """
    if current in (OrderStatus.CANCELLED, OrderStatus.DELIVERED):
        return False
    if target == OrderStatus.CANCELLED:
        return True
    return FULFILMENT.index(OrderStatus(target)) > FULFILMENT.index(OrderStatus(current))


class OrderChangeKind(models.TextChoices):
    """What the history of an order tells."""

    PLACED = "PLACED", "Order placed"
    STATUS = "STATUS", "Status changed"
    METHOD = "METHOD", "Payment method changed"
    PAYMENT = "PAYMENT", "Payment"
    REFUND = "REFUND", "Refunded"
    STAFF_NOTE = "STAFF_NOTE", "Note for the staff"


class ActorKind(models.TextChoices):
    """The kinds of authors of a change in a store."""

    MERCHANT = "MERCHANT", "Merchant"
    APP = "APP", "App"
    SHOPPER = "SHOPPER", "Shopper"
    STAFF = "STAFF", "Platform staff"
    SYSTEM = "SYSTEM", "System"


class QuoteResult(models.TextChoices):
    """What became of the quote that came with the row of an order."""

    TAKEN = "taken"
    DIFFERS = "differs"
    IGNORED = "ignored"


class HookOutcome(models.TextChoices):
    """How an app took part in an order."""

    ANSWERED = "ANSWERED", "Answered"
    FAILED = "FAILED", "Failed"
    SKIPPED = "SKIPPED", "Not asked"


class DeliveryMethod(models.TextChoices):
    DELIVERY = "DELIVERY", "Delivery"
    PICKUP = "PICKUP", "Pickup"


class OrderValidation(models.TextChoices):
    """Whether all of the merchant's apps (`order.validate`) answered before the order was accepted."""

    VALID = "VALID", "Validated"
    NOT_VALIDATED = "NOT_VALIDATED", "Not validated"


class PaymentStatus(models.TextChoices):
    PENDING = "PENDING", "Pending"
    COMPLETED = "COMPLETED", "Completed"
    FAILED = "FAILED", "Failed"
    EXPIRED = "EXPIRED", "Expired"


# The app that made a payment may report these.
SETTLED = (PaymentStatus.COMPLETED, PaymentStatus.FAILED)


class BuiltInPayment(models.TextChoices):
    """Collected by the merchant outside the service: such an order has no payment record."""

    CASH = "CASH", "Cash"
    CARD = "CARD", "Card"


class StockCrossing(models.TextChoices):
    """The inventory event that a change of stock causes."""

    OUT_OF_STOCK = "out_of_stock"
    LOW_STOCK = "low_stock"
    BACK_IN_STOCK = "back_in_stock"


def is_low(stock: int | None, threshold: int | None) -> bool:
    """Some is left, and less than the threshold."""
    return stock is not None and threshold is not None and 0 < stock < threshold


class Resource(models.TextChoices):
    """The kinds of rows that a shop pushes, by their names in paths (contract, section 17)."""

    PRODUCTS = "products", "Products"
    ORDERS = "orders", "Orders"
    REVIEWS = "reviews", "Reviews"
    PAGES = "pages", "Pages"

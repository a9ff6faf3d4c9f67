from django.db import models


class DeliveryStatus(models.TextChoices):
    """The state of the delivery of one event to one webhook."""

    PENDING = "PENDING", "Pending"  # not tried yet
    RETRYING = "RETRYING", "Retrying"  # failed, and will be retried
    SUCCEEDED = "SUCCEEDED", "Delivered"  # answered 2xx
    EXHAUSTED = "EXHAUSTED", "Failed"  # the schedule is used up
    HELD = "HELD", "Held"  # the webhook was disabled automatically, or the store paused the app
    CANCELLED = "CANCELLED", "Not sent"  # switched off, deleted or uninstalled while it waited


class HeldReason(models.TextChoices):
    """Why a delivery is HELD."""

    DISABLED = "", "The webhook was disabled automatically. Kept for recovery."
    PAUSED = "paused", "The store has paused the app. Sent when the app is resumed."


WAITING = (DeliveryStatus.PENDING, DeliveryStatus.RETRYING)
FAILING = (DeliveryStatus.RETRYING, DeliveryStatus.EXHAUSTED)


class Pace(models.TextChoices):
    """How an endpoint has been responding. It decides how many attempts the endpoint may have at once."""

    UNKNOWN = "", "Not known"
    FAST = "FAST", "Answers at once"
    PROVEN = "PROVEN", "Answers quickly"
    SLOW = "SLOW", "Answers slowly"
    SILENT = "SILENT", "Timed out or could not be reached"


class Stage(models.IntegerChoices):
    """How close a failing webhook is to being disabled (contract, section 5)."""

    WELL = 0, "Working"
    FAILING = 1, "Failing for 24 hours"
    FAILING_LONGER = 2, "Failing for 48 hours"
    DISABLED = 3, "Disabled"


class ErasureState(models.TextChoices):
    """The state of the request that an uninstalled app erase a business's data."""

    DUE = "DUE", "Due"  # nothing sent yet
    SENT = "SENT", "Sent, not confirmed yet"
    CONFIRMED = "CONFIRMED", "Confirmed"  # every webhook that received it answered 2xx
    OVERDUE = "OVERDUE", "Overdue: no attempt was confirmed"  # operators are notified
    CANCELLED = "CANCELLED", "Cancelled: installed again"
    UNADDRESSED = "UNADDRESSED", "No URL to send it to"  # the app had no Webhook URL when it was due


OPEN_ERASURES = (ErasureState.DUE, ErasureState.SENT, ErasureState.OVERDUE)


class InboxAnswer(models.TextChoices):
    """How a developer's inbox answers a webhook."""

    OK = "OK", "200 OK"
    GONE = "GONE", "410 Gone"
    ERROR = "ERROR", "500 Internal Server Error"
    SLOW = "SLOW", "Slow: 200 after 11 seconds"
    CLOSED = "CLOSED", "Nothing: close the connection"

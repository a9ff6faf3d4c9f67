from django.db import models


class DeliveryStatus(models.TextChoices):
    """One event on its way to one webhook."""

    PENDING = "PENDING", "Pending"  # not tried yet
    RETRYING = "RETRYING", "Retrying"  # failed, and due again
    SUCCEEDED = "SUCCEEDED", "Delivered"  # answered 2xx
    EXHAUSTED = "EXHAUSTED", "Failed"  # the schedule is used up
    HELD = "HELD", "Held"  # the webhook was disabled automatically; kept for recovery
    CANCELLED = "CANCELLED", "Not sent"  # switched off, deleted or uninstalled while it waited


WAITING = (DeliveryStatus.PENDING, DeliveryStatus.RETRYING)


class Pace(models.TextChoices):
    """How an endpoint has been answering, which decides how many attempts it may have at once."""

    UNKNOWN = "", "Not known"
    PROVEN = "PROVEN", "Answers quickly"
    SLOW = "SLOW", "Answers slowly"
    SILENT = "SILENT", "Timed out or could not be reached"


class Stage(models.IntegerChoices):
    """How far a failing webhook has come on the way to being disabled (contract section 5)."""

    WELL = 0, "Well"
    FAILING = 1, "Failing for 24 hours"
    FAILING_LONGER = 2, "Failing for 48 hours"
    DISABLED = 3, "Disabled"


class ErasureState(models.TextChoices):
    """How far the erasure of a business's data by a former app has come."""

    DUE = "DUE", "Due"  # nothing sent yet
    SENT = "SENT", "Sent, not confirmed yet"
    CONFIRMED = "CONFIRMED", "Confirmed"  # answered 2xx by all who were told
    OVERDUE = "OVERDUE", "Overdue: not confirmed by any attempt"  # an operator's alarm
    CANCELLED = "CANCELLED", "Cancelled: installed again"
    UNADDRESSED = "UNADDRESSED", "Nowhere to send it to"  # no Webhook URL when it was due


OPEN_ERASURES = (ErasureState.DUE, ErasureState.SENT, ErasureState.OVERDUE)

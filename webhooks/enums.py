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

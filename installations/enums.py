from django.db import models


class HistoryKind(models.TextChoices):
    """What happens to an installation. UNINSTALLED is the specification's internal event `app.uninstalled`."""

    INSTALLED = "INSTALLED", "Installed"
    TERMS_CHANGED = "TERMS_CHANGED", "Installed again or agreed to anew"
    UNINSTALLED = "UNINSTALLED", "Uninstalled"
    ERASURE_SENT = "ERASURE_SENT", "Data erasure sent"
    ERASURE_CONFIRMED = "ERASURE_CONFIRMED", "Data erasure confirmed"
    ERASURE_OVERDUE = "ERASURE_OVERDUE", "Data erasure not confirmed"
    ERASURE_CANCELLED = "ERASURE_CANCELLED", "Data erasure cancelled"
    ERASURE_UNADDRESSED = "ERASURE_UNADDRESSED", "Nowhere to send the data erasure to"

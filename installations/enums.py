from django.db import models


class HistoryKind(models.TextChoices):
    """What happens to an installation. UNINSTALLED is the specification's internal event `app.uninstalled`."""

    INSTALLED = "INSTALLED", "Installed"
    TERMS_CHANGED = "TERMS_CHANGED", "Installed again or agreed to anew"
    CONVERTED = "CONVERTED", "Became a production install"
    NEEDS_RECONSENT = "NEEDS_RECONSENT", "Asked to agree to more"
    AGREED = "AGREED", "Agreed to more"
    DECLINED = "DECLINED", "Kept as it was"
    SCOPES_REMOVED = "SCOPES_REMOVED", "Permissions taken away by an approval"
    TOKEN_ENDED = "TOKEN_ENDED", "Access token ended"
    UNINSTALLED = "UNINSTALLED", "Uninstalled"
    ERASURE_SENT = "ERASURE_SENT", "Data erasure sent"
    ERASURE_CONFIRMED = "ERASURE_CONFIRMED", "Data erasure confirmed"
    ERASURE_OVERDUE = "ERASURE_OVERDUE", "Data erasure not confirmed"
    ERASURE_CANCELLED = "ERASURE_CANCELLED", "Data erasure cancelled"
    ERASURE_UNADDRESSED = "ERASURE_UNADDRESSED", "Nowhere to send the data erasure to"


# Those by which an installation gets new terms.
SETTLING = (HistoryKind.INSTALLED, HistoryKind.TERMS_CHANGED, HistoryKind.CONVERTED, HistoryKind.AGREED)
# Those that decide what is granted. What an approval takes away leaves the terms as they were agreed to.
GRANTING = (*SETTLING, HistoryKind.SCOPES_REMOVED)

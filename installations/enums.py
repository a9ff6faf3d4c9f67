from django.db import models


class HistoryKind(models.TextChoices):
    """The kinds of entries in an installation's history. UNINSTALLED is the internal event `app.uninstalled`."""

    INSTALLED = "INSTALLED", "Installed"
    TERMS_CHANGED = "TERMS_CHANGED", "Authorized again"
    CONVERTED = "CONVERTED", "Became a production install"
    NEEDS_RECONSENT = "NEEDS_RECONSENT", "Asked to agree to more"
    AGREED = "AGREED", "Agreed to more"
    DECLINED = "DECLINED", "Kept as it was"
    PAUSED = "PAUSED", "Paused"
    RESUMED = "RESUMED", "Resumed"
    SCOPES_REMOVED = "SCOPES_REMOVED", "Permissions taken away by an approval"
    SCOPES_FOLLOWED = "SCOPES_FOLLOWED", "Permissions followed the app"
    SCOPES_RETURNED = "SCOPES_RETURNED", "Permissions returned with an earlier version"
    TOKEN_ENDED = "TOKEN_ENDED", "Access token ended"
    UNINSTALLED = "UNINSTALLED", "Uninstalled"
    ERASURE_SENT = "ERASURE_SENT", "Data erasure sent"
    ERASURE_CONFIRMED = "ERASURE_CONFIRMED", "Data erasure confirmed"
    ERASURE_OVERDUE = "ERASURE_OVERDUE", "Data erasure not confirmed"
    ERASURE_CANCELLED = "ERASURE_CANCELLED", "Data erasure cancelled"
    ERASURE_UNADDRESSED = "ERASURE_UNADDRESSED", "No address for the data erasure"


# These change the granted scopes.
GRANTING = (
    HistoryKind.INSTALLED,
    HistoryKind.TERMS_CHANGED,
    HistoryKind.CONVERTED,
    HistoryKind.AGREED,
    HistoryKind.SCOPES_REMOVED,
    HistoryKind.SCOPES_RETURNED,
)
# After these its token may do something else than before.
CHANGES_ACCESS = (*GRANTING, HistoryKind.SCOPES_FOLLOWED)

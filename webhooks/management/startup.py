"""What commands look at before they work: whether this process can decrypt what is stored, and what those that dispatch need of the database."""

from django.conf import settings
from django.core.management.base import CommandError
from django.db import InterfaceError, OperationalError, connection

from installations.models import Installation


def require_keys() -> None:
    """Raise ImproperlyConfigured if the oldest or the newest stored secret needs a key that isn't set.

    With another key a worker would claim deliveries and put each off. A database that can't be reached is no reason.
    """
    secrets = Installation.objects.order_by("pk").values_list("webhook_secret", flat=True)
    try:
        secrets.first()
        secrets.last()
    except (OperationalError, InterfaceError):
        pass
    finally:
        connection.close()


def require_whole_sessions() -> None:
    """Raise `CommandError` behind a pooler of transactions: a dispatcher's settings would reach other clients' sessions."""
    if settings.DATABASE_POOLER == "transaction":
        raise CommandError(
            "Dispatchers keep settings in their PostgreSQL sessions, and DATABASE_POOLER=transaction lends sessions for single "
            "transactions. Unset it here, and connect to PostgreSQL directly in DATABASE_URL."
        )

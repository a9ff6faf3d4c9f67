"""What commands that dispatch need of the database."""

from django.conf import settings
from django.core.management.base import CommandError


def require_whole_sessions() -> None:
    """Raise `CommandError` behind a pooler of transactions: a dispatcher's settings would reach other clients' sessions."""
    if settings.DATABASE_POOLER == "transaction":
        raise CommandError(
            "Dispatchers keep settings in their PostgreSQL sessions, and DATABASE_POOLER=transaction lends sessions for single "
            "transactions. Unset it here, and connect to PostgreSQL directly in DATABASE_URL."
        )

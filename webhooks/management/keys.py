"""Whether this process can decrypt what is stored."""

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

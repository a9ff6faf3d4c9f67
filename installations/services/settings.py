"""An app's settings in a store. They are opaque here: `extensions` knows their schema and validates them."""

from typing import Any

from django.db import transaction

from installations.models import Installation
from installations.services.lifecycle import locked


@transaction.atomic
def keep_settings(*, installation: Installation, values: dict[str, Any]) -> Installation:
    """Replace the values. Raises `Conflict` if the app is not installed any more."""
    found = locked(installation)
    found.settings = values
    found.save(update_fields=["settings"])
    return found

"""An app's settings on a business, which are opaque here: `extensions` knows their schema and checks them."""

from typing import Any

from django.db import transaction

from installations.models import Installation
from installations.services.lifecycle import locked


@transaction.atomic
def keep_settings(*, installation: Installation, values: dict[str, Any]) -> Installation:
    """Write the values, in place of the former ones. Raises `Conflict` where the app is not installed any more."""
    found = locked(installation)
    found.settings = values
    found.save(update_fields=["settings"])
    return found

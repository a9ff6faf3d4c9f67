"""An app's settings in a store. They are opaque here: `extensions` knows their schema and validates them."""

from typing import Any

from django.db import transaction

from common.errors import Conflict
from installations.models import Installation
from installations.services.lifecycle import locked


@transaction.atomic
def keep_settings(
    *, installation: Installation, values: dict[str, Any], before: dict[str, Any] | None = None
) -> Installation:
    """Replace the values. Raises `Conflict` if the app is not installed any more, or they are no longer those of `before`."""
    found = locked(installation)
    require_unchanged(found.settings, values, before)
    found.settings = values
    found.save(update_fields=["settings"])
    return found


def require_unchanged(now: dict[str, Any], values: dict[str, Any], before: dict[str, Any] | None) -> None:
    """Raises `Conflict` if somebody else saved other values since `before` was read."""
    if before is not None and now not in (before, values):
        raise Conflict("These settings were saved in another window at this moment. Press Save again.")

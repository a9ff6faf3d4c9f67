"""A merchant's settings for an app as a whole. Blocks and embeds have their own."""

from typing import Any

from django.db import transaction

from accounts.access import require_role
from accounts.models import User
from common.errors import Invalid
from extensions.queries import defaults_of, overlaid, settings_schema_of
from extensions.schemas import problems_of_values, without_misfits
from installations.models import Installation
from installations.services.settings import keep_settings


@transaction.atomic
def save_settings(
    *, installation: Installation, user: User, values: dict[str, Any], before: dict[str, Any] | None = None
) -> Installation:
    """Replace the values of the app's `settingsSchema` for this installation; `before` are those that `values` were made of.

    The schema must accept its defaults with the values on top (contract, section 6).
    Raises `Invalid` with every problem, `NotAllowed` for another person's business, `Conflict` if the app is not
    installed any more, and if the values are no longer those of `before`.
    """
    require_role(installation.business, user, to="change an app's settings")
    schema = settings_schema_of(installation)
    if schema is None:
        raise Invalid("This app has no settings.")
    in_force = overlaid(defaults_of(without_misfits(schema)), values)
    if problems := problems_of_values(schema, in_force, "settings"):
        raise Invalid.fields(problems)
    return keep_settings(installation=installation, values=values, before=before)

"""What a merchant decides about an app: its settings, hooks, scripts and widgets on or off, settings of embeds, a cap."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from accounts.access import require_role
from accounts.models import User
from common.errors import Invalid, NotFound
from extensions.enums import ExtensionType
from extensions.models import Definition, ExtensionState, HookPreference
from extensions.queries import defaults_of, overlaid, settings_schema_of
from extensions.schemas import problems_of_values, without_misfits
from installations.models import Installation
from installations.services.lifecycle import locked
from installations.services.settings import keep_settings, require_unchanged

SWITCHABLE: Final = (ExtensionType.HOOK, ExtensionType.EMBED)


@transaction.atomic
def switch_extensions(
    *, installation: Installation, definitions: Collection[UUID], is_on: bool, now: datetime | None = None
) -> None:
    """Switch hooks, scripts and widgets on or off in one store, by the ids of their definitions.

    Raises `Conflict` if the installation has ended, `NotFound` if its app has no extension with such a key; then nothing is switched.
    """
    for definition_id in definitions:
        _change(installation, definition_id, SWITCHABLE, now, is_on=is_on)


@transaction.atomic
def change_controls(
    *, installation: Installation, switched: Mapping[UUID, bool], most_discount: int | None = None
) -> None:
    """Save one form: parts of the app by their definition's id, on or off, and the cap, if it was in the form.

    Raises like `switch_extensions` and `limit_discount`; then nothing is changed.
    """
    for definition_id, is_on in switched.items():
        switch_extensions(installation=installation, definitions=[definition_id], is_on=is_on)
    if most_discount is not None:
        limit_discount(installation=installation, percent=most_discount)


@transaction.atomic
def save_embed_settings(
    *,
    installation: Installation,
    definition: Definition,
    settings: dict[str, Any],
    before: dict[str, Any] | None = None,
    now: datetime | None = None,
) -> None:
    """Save the merchant's values, which the caller has validated with the embed's schema. Raises like
    `switch_extensions`, and `Conflict` if the values are no longer those of `before`.
    """
    installation = locked(installation)
    state = ExtensionState.objects.filter(installation=installation, definition=definition).first()
    require_unchanged(state.settings if state else {}, settings, before)
    _change(installation, definition.pk, (ExtensionType.EMBED,), now, settings=settings)


@transaction.atomic
def limit_discount(*, installation: Installation, percent: int) -> None:
    """The most that the app may take off an order, in per cent of the subtotal.

    Raises `Conflict` if the installation has ended, `Invalid` for a number outside 0 to 100.
    """
    if not 0 <= percent <= 100:
        raise Invalid.field("most_discount", "Enter a number from 0 to 100.")
    HookPreference.objects.update_or_create(
        installation=locked(installation), defaults={"most_discount": percent}
    )


def _change(
    installation: Installation,
    definition_id: UUID,
    kinds: Collection[ExtensionType],
    now: datetime | None,
    **fields: Any,
) -> None:
    installation = locked(installation)
    own = Definition.objects.filter(pk=definition_id, app=installation.app_id, type__in=kinds)
    if not own.exists():
        raise NotFound("No extension with this key.")
    ExtensionState.objects.update_or_create(
        installation=installation,
        definition_id=definition_id,
        defaults={**fields, "updated_at": now or timezone.now()},
    )


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

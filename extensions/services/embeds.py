"""Switching an app's embeds on and off, and their settings. The one door to `EmbedState`."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from common.errors import NotFound
from extensions.enums import ExtensionType
from extensions.models import Definition, EmbedState
from installations.models import Installation
from installations.services.lifecycle import locked


@transaction.atomic
def switch_embed(
    *, installation: Installation, definition: Definition, is_on: bool, now: datetime | None = None
) -> EmbedState:
    """Raises `Conflict` where the installation has ended, `NotFound` for what is no embed of its app."""
    return _change(installation, definition, now, is_on=is_on)


@transaction.atomic
def save_embed_settings(
    *,
    installation: Installation,
    definition: Definition,
    settings: dict[str, Any],
    now: datetime | None = None,
) -> EmbedState:
    """Keep the merchant's values, which the caller has validated with the embed's schema. Raises as `switch_embed`."""
    return _change(installation, definition, now, settings=settings)


def _change(
    installation: Installation, definition: Definition, now: datetime | None, **fields: Any
) -> EmbedState:
    installation = locked(installation)
    if definition.type != ExtensionType.EMBED or definition.app_id != installation.app_id:
        raise NotFound("Embed not found")
    changed = {**fields, "updated_at": now or timezone.now()}
    state, _ = EmbedState.objects.update_or_create(
        installation=installation, definition=definition, defaults=changed
    )
    return state

"""`installation.updated`: an app learns what its merchant has changed (contract, section 23).

Changes are found by comparing: a save that changes nothing publishes nothing, and one form is one event.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from extensions.enums import ExtensionType
from extensions.models import ExtensionState, HookPreference
from extensions.queries import running_definitions, settings_of
from installations.models import Installation
from webhooks.catalogue import INSTALLATION_UPDATED
from webhooks.messages import payloads
from webhooks.services.publishing import publish_to

NO_LIMIT = 100  # per cent


@dataclass(frozen=True, slots=True)
class InstallationState:
    """What the event tells. `hooks` and `embeds` are those that run in the store by their keys, and whether they are on."""

    settings: dict[str, Any]
    scopes: list[str]
    hooks: dict[str, bool]
    embeds: dict[str, bool]
    most_discount: int
    is_paused: bool

    @classmethod
    def of(cls, installation: Installation) -> "InstallationState":
        """Four statements or five. The switches are those of now, also for a copy of the row as it was."""
        off = set(
            ExtensionState.objects.filter(installation=installation.pk, is_on=False).values_list(
                "definition_id", flat=True
            )
        )
        running = running_definitions([installation])[installation.app_id]
        hooks, embeds = (
            {each.key: each.pk not in off for each in running if each.type == kind}
            for kind in (ExtensionType.HOOK, ExtensionType.EMBED)
        )
        limits = HookPreference.objects.filter(installation=installation.pk)
        limit = limits.values_list("most_discount", flat=True).first()
        return cls(
            settings=settings_of(installation),
            scopes=installation.effective_scopes,
            hooks=hooks,
            embeds=embeds,
            most_discount=NO_LIMIT if limit is None else limit,
            is_paused=installation.paused_at is not None,
        )

    def changed_since(self, before: "InstallationState") -> list[str]:
        """Names of `payloads.INSTALLATION_PARTS`, in their order."""
        parts = {
            "settings": self.settings != before.settings,
            "scopes": self.scopes != before.scopes,
            "switches": (self.hooks, self.embeds, self.most_discount)
            != (before.hooks, before.embeds, before.most_discount),
            "paused": self.is_paused != before.is_paused,
        }
        return [name for name in payloads.INSTALLATION_PARTS if parts[name]]


@contextmanager
def published_update(installation: Installation, now: datetime) -> Iterator[None]:
    """Around what changes switches of a locked installation: publishes the event at the end, in the same transaction."""
    before = InstallationState.of(installation)
    yield
    publish_update(installation, before, now)


def publish_update(installation: Installation, before: InstallationState, now: datetime) -> None:
    """For this installation alone, if something is different."""
    state = InstallationState.of(installation)
    changed = state.changed_since(before)
    if not changed:
        return
    data = payloads.installation_updated(
        installation,
        changed=changed,
        settings=state.settings,
        hooks=state.hooks,
        embeds=state.embeds,
        most_discount=state.most_discount,
    )
    publish_to(installation=installation, event_type=INSTALLATION_UPDATED, data=data, now=now)

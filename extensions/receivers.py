"""What the floors below tell extensions. Connected by `ExtensionsConfig`, in the transaction of the change."""

from typing import Any

from django.dispatch import receiver

from extensions.models import EmbedState
from extensions.services.manifests import keep_approved
from extensions.services.placements import remove_all_of
from installations.models import Installation
from installations.signals import installation_removed
from marketplace.models import AppVersion
from marketplace.signals import app_approved


@receiver(installation_removed)
def take_out_of_the_store(installation: Installation, **_: Any) -> None:
    """Blocks leave their pages and embeds their settings; hooks and admin pages are gone with the installation."""
    remove_all_of(installation)
    EmbedState.objects.filter(installation=installation).delete()


@receiver(app_approved)
def keep_what_was_approved(version: AppVersion, **_: Any) -> None:
    """The manifest as it is now is what later saves are compared with."""
    keep_approved(version=version)

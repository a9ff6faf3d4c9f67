"""Receivers of lower-level apps' signals, in the transaction of the change. Connected by `ExtensionsConfig`."""

from collections.abc import Sequence
from typing import Any

from django.dispatch import receiver

from extensions.models import ExtensionState, ReachRequest, StorefrontCost
from extensions.services.notices import note_requests
from extensions.services.placements import remove_all_of
from extensions.services.releases import keep_approved, update_live
from installations.models import Installation
from installations.services.approval import carry_agreement
from installations.signals import (
    approval_followed,
    installation_changed,
    installation_created,
    installation_removed,
)
from marketplace.models import App, AppVersion
from marketplace.signals import app_approved


@receiver(installation_removed)
def take_out_of_the_store(installation: Installation, **_: Any) -> None:
    """Delete the installation's blocks, embed states and measurements; hooks and admin pages end with the installation."""
    remove_all_of(installation)
    StorefrontCost.objects.filter(installation=installation).delete()
    ExtensionState.objects.filter(installation=installation).delete()


@receiver(app_approved)
def keep_what_was_approved(version: AppVersion, **_: Any) -> None:
    """Freeze the current manifest, and let stores run what they agreed to of it."""
    keep_approved(version=version)


@receiver([installation_created, installation_changed])
def run_what_was_agreed_to(installation: Installation, **_: Any) -> None:
    """The current version's definitions are there for every store. An older version, superseded between the consent
    and the exchange of its code, may have none any more.
    """
    if installation.agreed_version_id not in (None, installation.app.approved_version_id):
        update_live(installation.app)


@receiver(approval_followed)
def carry_on(app: App, installations: Sequence[Installation], **_: Any) -> None:
    """Merchants who are asked for more get a mail. Stores that a new version asks nothing of count as agreed to it, so that few versions stay in use.

    It is in force there without this. What the version dropped would be asked for again.
    """
    note_requests(app=app, installations=installations)
    asking = set(ReachRequest.objects.filter(version__app=app).values_list("version_id", flat=True))
    carry_agreement(app=app, installations=installations, asking=asking)

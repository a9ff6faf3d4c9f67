"""Receivers of lower-level apps' signals, in the transaction of the change. Connected by `ExtensionsConfig`."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.dispatch import receiver

from extensions.hooks import breaker, ledger
from extensions.models import ExtensionState, StorefrontCost
from extensions.releases import health
from extensions.services.extension_states import change_some_setting, remove_all_of
from extensions.services.installation_updates import InstallationState, publish_update
from extensions.services.notices import note_requests
from extensions.services.releases import keep_approved, update_live, versions_kept
from extensions.services.scripts import watch_approved
from extensions.shops import ledger as shops_ledger
from installations import signals as installation_signals
from installations.models import Installation
from marketplace.enums import ReleaseState
from marketplace.models import App, AppVersion, Release
from marketplace.signals import app_approved, app_updated, figures_to_keep, release_moved
from stores.buyers.writing import forget_app
from stores.customers import Copies
from stores.signals import copies_to_erase, quote_taken
from webhooks.signals import erasure_begun, settings_to_change


@receiver(app_updated)
def let_saves_run(app: App, changed: Collection[str], **_: Any) -> None:
    """`liveSaves` was switched, with the app's row locked."""
    if "live_saves" in changed:
        update_live(app)


@receiver(installation_signals.installation_removed)
def take_out_of_the_store(installation: Installation, **_: Any) -> None:
    """Delete the installation's blocks, embed states and measurements; hooks and admin pages end with the installation."""
    remove_all_of(installation)
    StorefrontCost.objects.filter(installation=installation).delete()
    ExtensionState.objects.filter(installation=installation).delete()


@receiver(app_approved)
def keep_what_was_approved(version: AppVersion, **_: Any) -> None:
    """Freeze the current manifest, and let stores run what they agreed to of it."""
    keep_approved(version=version)
    watch_approved(version.app)


@receiver([installation_signals.installation_created, installation_signals.installation_changed])
def run_what_was_agreed_to(installation: Installation, **_: Any) -> None:
    """The definitions of the versions that stores run are there for every store. An older version, superseded between the
    consent and the exchange of its code, may have none any more.
    """
    app = installation.app
    kept = (None, app.approved_version_id, app.rolling_version_id, app.earlier_version_id)
    if installation.agreed_version_id not in kept:
        update_live(app)


@receiver(installation_signals.versions_that_ask)
def find_versions_that_ask(app: App, **_: Any) -> set[tuple[UUID, bool]]:
    return versions_kept(app)


@receiver(release_moved)
def run_the_versions_of_a_release(app: App, release: Release, now: datetime, **_: Any) -> None:
    """Two forms of each definition are there as long as the release is open. After `back`, breakers that the newer version
    opened are closed.
    """
    if app.rolling_version_id is None:
        update_live(app)
    if release.state == ReleaseState.TAKEN_BACK:
        breaker.close_those_of(release)


@receiver(figures_to_keep)
def figures_of_a_release(release: Release, **_: Any) -> dict[str, Any]:
    return health.figures_of(release)


@receiver(installation_signals.approval_followed)
def mail_about_reach(app: App, installations: Sequence[Installation], **_: Any) -> None:
    note_requests(app=app, installations=installations)


@receiver(installation_signals.merchant_changed)
def tell_what_the_merchant_changed(
    installation: Installation, before: Installation, now: datetime, **_: Any
) -> None:
    publish_update(installation, InstallationState.of(before), now)


@receiver(settings_to_change)
def change_settings_of_a_sandbox(installation: Installation, values: dict[str, Any] | None, **_: Any) -> bool:
    return change_some_setting(installation, values)


@receiver(quote_taken)
def find_the_calls_by_their_order(order_id: UUID, calls: Sequence[UUID], **_: Any) -> None:
    ledger.of_order(calls, order_id)


@receiver(erasure_begun)
def empty_attributes(installation: Installation, **_: Any) -> None:
    """What the app has put into the store's orders and carts is data that it is asked to erase."""
    forget_app(business_id=installation.business_id, owner=str(installation.app_id))


@receiver(copies_to_erase)
def on_copies_to_erase(copies: Copies, now: datetime, **_: Any) -> None:
    ledger.erase_customer(copies, now=now)
    shops_ledger.erase_customer(copies)

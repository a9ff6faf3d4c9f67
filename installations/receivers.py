"""What installations do when apps change."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.dispatch import receiver

from installations.hint import hint
from installations.models import Installation
from installations.services.lifecycle import uninstall
from installations.signals import installation_created, installation_removed
from marketplace.models import App
from marketplace.services.totals import count_installs
from marketplace.signals import app_approved, app_deleted


@receiver(app_deleted)
def end_test_installs(sender: Any, *, app: App, now: datetime, **kwargs: Any) -> None:
    """An app that was never approved is installed for test only; those installs end with it."""
    for installation in Installation.objects.active().filter(app=app):
        uninstall(installation=installation, now=now)


@receiver(installation_created)
def count_one_more(sender: Any, *, installation: Installation, **kwargs: Any) -> None:
    """Installs on sandboxes never count (contract section 9, "Apps"), and a test install stands on one."""
    if not installation.business.is_sandbox:
        count_installs(app=installation.app, by=1)


@receiver(installation_removed)
def count_one_less(sender: Any, *, installation: Installation, **kwargs: Any) -> None:
    if not installation.business.is_sandbox:
        count_installs(app=installation.app, by=-1)


@receiver(app_approved)
def ask_to_follow(sender: Any, **kwargs: Any) -> None:
    """Installations follow by worker, since there may be many; the sweep finds what a lost hint left."""
    transaction.on_commit(hint, robust=True)

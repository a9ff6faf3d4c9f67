"""Receivers of other apps' signals, and of installations' own. Connected by `InstallationsConfig`."""

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from common.background import enqueue_after_commit
from installations.models import Installation
from installations.services.lifecycle import uninstall
from installations.signals import installation_created, installation_removed
from marketplace.models import App
from marketplace.services.totals import count_installs
from marketplace.signals import app_approved, app_deleted, version_restored


@receiver(app_deleted)
def end_test_installs(sender: Any, *, app: App, now: datetime, **kwargs: Any) -> None:
    """An app that was never approved has test installs only, which end with it."""
    for installation in Installation.objects.active().filter(app=app):
        uninstall(installation=installation, now=now)


@receiver(installation_created)
def count_one_more(sender: Any, *, installation: Installation, **kwargs: Any) -> None:
    """Installs on sandboxes never count, and so no test install does (contract, section 9, "Apps")."""
    if not installation.business.is_sandbox:
        count_installs(app=installation.app, by=1)


@receiver(installation_removed)
def count_one_less(sender: Any, *, installation: Installation, **kwargs: Any) -> None:
    if not installation.business.is_sandbox:
        count_installs(app=installation.app, by=-1)


@receiver([app_approved, version_restored])
def ask_to_follow(sender: Any, **kwargs: Any) -> None:
    """A worker updates the installations, because there may be many. Beat repeats a lost message within seconds."""
    enqueue_after_commit("installations.tasks.follow_approvals", expires=5.0)

"""What installations do when apps change."""

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from installations.models import Installation
from installations.services.lifecycle import uninstall
from marketplace.models import App
from marketplace.signals import app_deleted


@receiver(app_deleted)
def end_test_installs(sender: Any, *, app: App, now: datetime, **kwargs: Any) -> None:
    """An app that was never approved is installed for test only; those installs end with it."""
    for installation in Installation.objects.active().filter(app=app):
        uninstall(installation=installation, now=now)

"""Deletes what the log holds about a business once its erasure is due. Connected by `ActivityConfig`."""

from typing import Any

from django.dispatch import receiver

from activity.services import retention
from installations.models import Installation
from webhooks.signals import erasure_begun


@receiver(erasure_begun)
def on_erasure_begun(installation: Installation, **_: Any) -> None:
    retention.erase(installation)

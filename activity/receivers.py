"""Deletes what the log holds about a business once its erasure is due, and about a customer. Connected by `ActivityConfig`."""

from typing import Any

from django.dispatch import receiver

from activity.services import retention
from installations.models import Installation
from stores.customers import Copies
from stores.signals import copies_to_erase
from webhooks.signals import erasure_begun


@receiver(erasure_begun)
def on_erasure_begun(installation: Installation, **_: Any) -> None:
    retention.erase(installation)


@receiver(copies_to_erase)
def on_copies_to_erase(copies: Copies, **_: Any) -> None:
    retention.erase_customer(copies)

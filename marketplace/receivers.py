"""Receivers of lower-level apps' signals, in the transaction of the change. Connected by `MarketplaceConfig`."""

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.models import User
from accounts.signals import account_deleted
from marketplace.services.apps import end_apps_of


@receiver(account_deleted)
def end_apps(sender: Any, *, user: User, now: datetime, **kwargs: Any) -> None:
    end_apps_of(developer=user, now=now)

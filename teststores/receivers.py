"""Receivers of lower-level apps' signals, in the transaction of the change. Connected by `TestStoresConfig`."""

from datetime import datetime
from typing import Any

from django.dispatch import receiver

from accounts.models import User
from marketplace.models import App
from marketplace.signals import developer_left
from teststores.models import TestStore
from teststores.services import close


@receiver(developer_left)
def close_test_stores(sender: Any, *, app: App, user: User, now: datetime, **kwargs: Any) -> None:
    for store in TestStore.objects.open(now).filter(app=app, made_by=user):
        close(store=store, now=now)
